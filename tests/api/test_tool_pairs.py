"""Tool pairs over HTTP: old calls and results give way to summaries of their own, in place."""

from typing import Any

import pytest

from app.compaction.pair_batch import PAIR_INTRODUCTION
from app.compaction.tool_pairs import PAIR_PROMPT
from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    succeeded,
    text_block,
    tool_call,
    user,
)
from tests.api.compacting import (
    CLAIM_SECONDS,
    Timed,
    compact,
    put_turn,
    reasons,
    refusal,
    request_compaction,
    run_turn,
    start,
    texts,
)
from tests.api.reporting import report
from tests.api.requests import badly_paired
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOW = 1_000_000
SUMMARY = "tool_pair_summary"
TOLD = (
    "<conversation>\n[assistant]: tool_request(read): {}\n[user]: tool_response: done\n"
    "</conversation>"
)


async def goose(
    timed: Timed, cutoff: int | None = 2, window: int = WINDOW, **profile: Any
) -> SessionApi:
    given = {"name": "model-a", "context_window": window, **profile}
    # Messages that goose's fixing would merge are told apart.
    policy = {"preset": "goose", "tool_call_cutoff": cutoff, "pairing": "synthesise"}
    return await timed.session(policy=policy, model_profile=given)


async def pairs(session: SessionApi, count: int, first: int = 0) -> None:
    """So many calls, each with its result."""
    messages = [
        each
        for number in range(first, first + count)
        for each in (
            calls(f"c{number}", message_id=f"a{number}"),
            results(f"c{number}", message_id=f"r{number}"),
        )
    ]
    if messages:
        await session.append(*messages)


async def talked(timed: Timed, count: int = 20, **fields: Any) -> SessionApi:
    """A session of a request, so many pairs, an answer, and another request."""
    session = await goose(timed, **fields)
    await session.append(user("go", "u1"))
    await pairs(session, count)
    await session.append(assistant("done", "s1"), user("more", "u2"))
    return session


async def background(session: SessionApi, **fields: Any) -> list[Json]:
    found: list[Json] = (await session.prepare(**fields))["decision"]["background"]
    return found


async def claim(session: SessionApi, **fields: Any) -> Json:
    return dict((await start(session, kind="tool_pairs", **fields)).answer)


def told(batch: Json) -> list[Json]:
    """A summary for every pair of a batch."""
    return [
        {"call_ids": pair["call_ids"], "summary": "S " + " ".join(pair["call_ids"])}
        for pair in batch["pairs"]
    ]


async def complete(session: SessionApi, batch: Json, given: list[Json] | None = None) -> Any:
    body = {
        "claim": batch["claim"]["token"],
        "attempt": 1,
        "pairs": told(batch) if given is None else given,
    }
    return await session.post(f"compactions/{batch['id']}/complete", body)


async def summarised(session: SessionApi, **fields: Any) -> Json:
    """A batch from its request to its view."""
    batch = await claim(session, **fields)
    answer = succeeded(await complete(session, batch))
    assert answer["status"] == "completed", answer
    return {**answer, "id": batch["id"]}


async def seen(session: SessionApi) -> list[str]:
    """What the next request is made of."""
    return reasons(await session.prepare(include=["provenance"]))


def called(batch: Json) -> list[str]:
    return [call_id for pair in batch["pairs"] for call_id in pair["call_ids"]]


FIRST_TEN = [f"c{number}" for number in range(10)]
AFTER = [
    "u1",
    *[SUMMARY] * 10,
    *[id_ for number in range(10, 20) for id_ in (f"a{number}", f"r{number}")],
    *("s1", "u2"),
]
"""What a request of `talked` is made of after a batch."""


@requirement("GO-7.3-pair-hidden-summary-shown")
async def test_P3_the_ten_oldest_pairs_give_way_to_summaries_in_their_places(timed: Timed) -> None:
    session = await talked(timed)
    offered = await background(session)
    batch = await claim(session)
    succeeded(await complete(session, batch))
    prepared = await session.prepare(include=["provenance"])

    assert offered == [{"kind": "tool_pairs", "plan_key": batch["plan_key"]}]
    assert called(batch) == FIRST_TEN
    assert batch["pairs"][0]["message_ids"] == ["a0", "r0"]
    assert reasons(prepared) == AFTER
    assert texts(prepared["request"])[1:11] == [
        f"{PAIR_INTRODUCTION}\n\nS {call_id}" for call_id in FIRST_TEN
    ]
    assert badly_paired(prepared["request"]["messages"]) == []


async def test_a_model_is_asked_of_each_pair_alone(timed: Timed) -> None:
    session = await talked(timed)
    request = (await claim(session))["pairs"][3]["summary_request"]

    assert request["messages"][0] == {"role": "system", "content": [text_block(PAIR_PROMPT)]}
    assert texts(request) == [TOLD]
    assert request["tools"] == []


@pytest.mark.parametrize(
    ("count", "cutoff", "behind", "due"),
    [
        pytest.param(15, 5, 0, False, id="P1"),
        pytest.param(20, 2, 0, True, id="P3"),
        pytest.param(20, 2, 8, False, id="P4"),
        pytest.param(20, 2, 7, True, id="P5"),
        pytest.param(20, 2, 20, False, id="P9"),
        pytest.param(20, None, 0, False, id="the cut-off of the window"),
    ],
)
@requirement("GO-7.3-pairs-of-this-turn-protected")
async def test_pairs_of_the_current_reply_are_protected(
    timed: Timed, count: int, cutoff: int | None, behind: int, due: bool
) -> None:
    session = await goose(timed, cutoff)
    await session.append(user("go"))
    await pairs(session, count - behind)
    await session.append(user("more"))
    await pairs(session, behind, first=count - behind)
    offered = await background(session)
    response = await request_compaction(session, kind="tool_pairs")

    assert bool(offered) == due
    if due:
        assert called(response.json()) == FIRST_TEN
    else:
        assert refusal(response) == (422, "nothing_to_compact")


async def test_P7_parallel_calls_are_one_group(timed: Timed) -> None:
    session = await goose(timed)
    await session.append(user("go", "u1"))
    for number in range(7):
        ids = (f"x{number}", f"y{number}")
        await session.append(
            calls(*ids, message_id=f"a{number}"), results(*ids, message_id=f"r{number}")
        )
    await session.append(user("more", "u2"))
    batch = await claim(session)
    succeeded(await complete(session, batch))

    # A request has a message for each result.
    rest = ["a5", "r5", "r5", "a6", "r6", "r6"]
    assert [pair["call_ids"] for pair in batch["pairs"]] == [[f"x{n}", f"y{n}"] for n in range(5)]
    assert await seen(session) == ["u1", *[SUMMARY] * 5, *rest, "u2"]


async def test_without_a_user_request_the_trailing_run_of_tools_is_the_reply(timed: Timed) -> None:
    session = await goose(timed)
    await pairs(session, 13)
    await session.append(assistant("so far"))
    before = await background(session)
    await pairs(session, 13, first=13)

    assert len(before) == len(await background(session)) == 1


@requirement("GO-7.3-not-where-the-provider-owns")
async def test_nothing_is_summarised_where_the_provider_owns_its_context(timed: Timed) -> None:
    session = await talked(timed, manages_own_context=True)

    assert await background(session) == []
    assert refusal(await request_compaction(session, kind="tool_pairs")) == (
        422,
        "nothing_to_compact",
    )


@pytest.mark.parametrize("preset", ["openwork", "codex", "awaken", "calibrated"])
async def test_any_preset_may_summarise_pairs_and_none_but_goose_does(
    timed: Timed, preset: str
) -> None:
    profile = {"name": "model-a", "context_window": WINDOW}
    plain = await timed.session(policy=preset, model_profile=profile)
    chosen = {"preset": preset, "tool_pair_summarization": True, "tool_call_cutoff": 2}
    session = await timed.session(policy=chosen, model_profile=profile)
    for each in (plain, session):
        await each.append(user("go", "u1"))
        await pairs(each, 20)
        await each.append(assistant("done", "s1"), user("more", "u2"))
    assert await background(plain) == []
    await summarised(session)

    assert await seen(session) == AFTER


async def test_the_window_decides_over_the_cut_off(timed: Timed) -> None:
    small = await talked(timed, 21, cutoff=None, window=91_667)
    larger = await talked(timed, 21, cutoff=None, window=91_668)
    unknown = await talked(timed, 40, cutoff=None, window=None)

    assert len(await background(small)) == 1
    assert await background(larger) == []
    assert await background(unknown) == []


@requirement("GO-7.3-user-keeps-the-output")
async def test_people_see_the_whole_output_as_before(timed: Timed) -> None:
    session = await talked(timed)
    before = await session.messages()
    batch = (await summarised(session))["id"]
    after = await session.messages()
    history = await session.read("history", compaction_id=batch, limit=50)

    assert [{**each, "covered_by": None} for each in after] == before
    covered = [each["id"] for each in after if each["covered_by"] == batch]
    assert covered == [id_ for n in range(10) for id_ in (f"a{n}", f"r{n}")]
    assert {each["covered_by"] for each in after if each["id"] not in covered} == {None}
    assert [each["id"] for each in history["messages"]] == covered


async def test_a_batch_is_no_new_window(timed: Timed) -> None:
    session = await talked(timed)
    before = await session.read()
    sent = (await session.prepare())["prepared_id"]
    bytes_before = (await session.get(f"prepared/{sent}")).content
    answer = await summarised(session)
    after = await session.read()

    assert answer["window"] == before["window"] == after["window"]
    assert after["version"] > before["version"]
    assert after["latest_compaction_id"] == answer["id"]
    assert (await session.get(f"prepared/{sent}")).content == bytes_before
    assert answer["tokens"]["reclaimed"] > 0
    assert answer["checkpoint"]["summary"] is None


async def test_a_report_of_a_call_from_before_the_batch_is_still_in_its_window(
    timed: Timed,
) -> None:
    session = await talked(timed)
    sent = (await session.prepare(turn_id="t", model_call=1))["prepared_id"]
    await summarised(session, turn_id="t", model_call=1)
    await session.append(assistant("ok"))
    await report(
        session, turn_id="t", model_call=1, prepared_id=sent, input_tokens=600, output_tokens=40
    )

    assert (await session.prepare())["decision"]["measured_tokens"] == 640


async def test_a_prepare_that_offers_a_batch_stores_nothing_at_a_repeat(timed: Timed) -> None:
    session = await talked(timed)
    first = await session.prepare()
    second = await session.prepare()

    assert second == first
    assert len(first["decision"]["background"]) == 1


async def test_a_turn_has_one_batch_at_most(timed: Timed) -> None:
    session = await talked(timed, 40)
    await run_turn(session)
    point: Json = {"turn_id": "t", "model_call": 1}
    assert len(await background(session, **point)) == 1
    done = await summarised(session, **point)

    assert await background(session, **point) == []
    again = await request_compaction(session, kind="tool_pairs", **point)
    assert (again.status_code, again.json()["id"]) == (200, done["id"])
    await put_turn(session, "t", "completed")
    assert len(await background(session, turn_id="t2")) == 1
    assert await background(session) != []


async def test_the_same_plan_is_the_same_batch_and_an_expired_claim_is_taken_over(
    timed: Timed,
) -> None:
    session = await talked(timed)
    batch = await claim(session)
    offered_meanwhile = await background(session)
    found = await request_compaction(session, kind="tool_pairs")
    timed.clock.advance(CLAIM_SECONDS + 1)
    offered_again = await background(session)
    taken = succeeded(await request_compaction(session, kind="tool_pairs"))

    assert offered_meanwhile == []
    assert (found.status_code, found.json()["claim"]) == (200, None)
    assert found.headers["retry-after"]
    assert offered_again == [{"kind": "tool_pairs", "plan_key": batch["plan_key"]}]
    assert (taken["id"], taken["pairs"]) == (batch["id"], batch["pairs"])
    late = succeeded(await complete(session, batch))
    assert late["status"] == "completed"


async def test_a_key_gives_a_repeat_its_batch_again(timed: Timed) -> None:
    session = await talked(timed)
    first = await request_compaction(session, "k", kind="tool_pairs")
    second = await request_compaction(session, "k", kind="tool_pairs")
    succeeded(await complete(session, first.json()))
    third = await request_compaction(session, "k", kind="tool_pairs")

    assert (first.status_code, second.status_code, third.status_code) == (201, 200, 200)
    assert second.json() == first.json()
    assert (third.json()["id"], third.json()["status"]) == (first.json()["id"], "completed")


async def test_pairs_without_a_summary_are_skipped_and_stay(timed: Timed) -> None:
    session = await talked(timed)
    batch = await claim(session)
    given = [pair for pair in told(batch) if pair["call_ids"] != ["c0"]]
    given[0]["summary"] = " \n"
    first = succeeded(await complete(session, batch, given))
    again = succeeded(await complete(session, batch, given))

    assert first["skipped"] == [["c0"], ["c1"]]
    assert again == first
    assert (await seen(session))[:6] == ["u1", "a0", "r0", "a1", "r1", SUMMARY]


async def test_a_batch_without_any_summary_is_asked_for_again(timed: Timed) -> None:
    session = await talked(timed)
    batch = await claim(session)
    answers = []
    for attempt in range(1, 4):
        body = {"claim": batch["claim"]["token"], "attempt": attempt, "pairs": []}
        response = await session.post(f"compactions/{batch['id']}/complete", body)
        answers.append(succeeded(response))

    assert [answer["status"] for answer in answers] == ["pending", "pending", "failed"]
    assert answers[0]["rejected"] == {"reason": "no pair has a summary"}
    assert answers[0]["pairs"] == batch["pairs"]
    assert answers[2]["code"] == "summary_retries_exhausted"
    assert await seen(session) != AFTER


async def test_a_failure_is_tried_again_and_an_overflow_is_the_end(timed: Timed) -> None:
    session = await talked(timed)
    held = await start(session, kind="tool_pairs")
    transient = succeeded(await held.fail("transient"))
    overflow = succeeded(await held.fail("context_overflow", 2))

    assert (transient["status"], transient["pairs"]) == ("pending", held.answer["pairs"])
    assert (overflow["status"], overflow["code"]) == ("failed", "cannot_fit")
    assert len(await background(session)) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"summary": "S"}, id="one summary for ten pairs"),
        pytest.param({"pairs": [{"call_ids": ["c1", "c2"], "summary": "S"}]}, id="no such pair"),
        pytest.param(
            {"pairs": [{"call_ids": ["c1"], "summary": "S"}] * 2}, id="a pair that is told twice"
        ),
        pytest.param({"pairs": [], "summary": "S"}, id="both"),
        pytest.param({}, id="nothing"),
    ],
)
async def test_what_is_no_answer_to_a_batch_is_refused(timed: Timed, body: Json) -> None:
    session = await talked(timed)
    batch = await claim(session)
    given = {"claim": batch["claim"]["token"], "attempt": 1, **body}
    response = await session.post(f"compactions/{batch['id']}/complete", given)

    assert refusal(response) == (422, "invalid_request")
    assert succeeded(await complete(session, batch))["status"] == "completed"


async def test_a_batch_of_one_pair_takes_a_summary(timed: Timed) -> None:
    session = await goose(timed)
    ids = [f"c{number}" for number in range(13)]
    await session.append(
        calls(*ids, message_id="a"), results(*ids, message_id="r"), user("go", "u")
    )
    held = await start(session, kind="tool_pairs")
    succeeded(await held.complete("all thirteen were read"))

    assert await seen(session) == [SUMMARY, "u"]


async def test_pairs_answer_no_other_compaction(timed: Timed) -> None:
    session = await talked(timed)
    held = await start(session)
    body = {"claim": held.token, "attempt": 1, "pairs": [{"call_ids": ["c0"], "summary": "S"}]}

    assert refusal(await session.post(f"compactions/{held.id}/complete", body)) == (
        422,
        "invalid_request",
    )


async def test_the_service_runs_no_pairs(timed: Timed) -> None:
    session = await talked(timed)

    assert refusal(await request_compaction(session, kind="tool_pairs", run=True)) == (
        422,
        "invalid_request",
    )


async def test_a_batch_keeps_no_compaction_waiting_and_is_superseded_by_it(timed: Timed) -> None:
    session = await talked(timed)
    batch = await claim(session)
    await compact(session, "The whole.")
    late = await complete(session, batch)

    assert refusal(late) == (409, "compaction_closed")
    assert late.json()["compaction_status"] == "superseded"
    assert SUMMARY not in await seen(session)


async def test_a_compaction_that_was_begun_before_a_batch_is_installed_after_it(
    timed: Timed,
) -> None:
    session = await talked(timed)
    batch = await claim(session)
    held = await start(session)
    request = held.answer["summary_request"]
    succeeded(await complete(session, batch))
    again = succeeded(await held.fail("context_overflow"))
    answer = succeeded(await held.complete("The whole.", 2))
    await session.append(user("next", "u3"))

    assert "tool_request" in request["messages"][0]["content"][0]["text"]
    assert again["status"] == "pending"
    assert answer["status"] == "completed"
    assert await seen(session) == ["compaction_summary", "system_reminder", "u3"]
    covers = {each["covered_by"] for each in await session.messages() if each["id"] != "u3"}
    assert covers == {held.id}


async def test_a_fold_after_a_batch_tells_its_summaries_and_takes_them_away(timed: Timed) -> None:
    session = await talked(timed)
    await summarised(session)
    held = await start(session)
    succeeded(await held.complete("The whole."))
    await session.append(user("next", "u3"))
    history = await session.read("history")

    assert (
        f"S c0\n[user]: {PAIR_INTRODUCTION}\n\nS c1"
        in (held.answer["summary_request"]["messages"][0]["content"][0]["text"])
    )
    assert await seen(session) == ["compaction_summary", "system_reminder", "u3"]
    assert history["compaction_id"] == held.id


async def test_a_second_batch_stands_beside_the_first(timed: Timed) -> None:
    session = await talked(timed, 40)
    before = await session.read()
    first = (await summarised(session))["id"]
    second = (await summarised(session))["id"]
    by_cover = {each["id"]: each["covered_by"] for each in await session.messages()}

    assert (await seen(session))[:22] == ["u1", *[SUMMARY] * 20, "a20"]
    assert (by_cover["a3"], by_cover["r13"], by_cover["a20"]) == (first, second, None)
    assert (await session.read())["window"] == before["window"]


async def test_an_undo_shows_the_pairs_again(timed: Timed) -> None:
    session = await talked(timed)
    before = await seen(session)
    first = (await summarised(session))["id"]
    succeeded(await session.post("rewind", {"undo_compaction": first}))

    assert await seen(session) == before
    assert {each["covered_by"] for each in await session.messages()} == {None}


async def test_an_undone_fold_shows_the_summaries_of_pairs_again(timed: Timed) -> None:
    session = await talked(timed)
    await summarised(session)
    fold = (await compact(session, "The whole."))["checkpoint"]["id"]
    succeeded(await session.post("rewind", {"undo_compaction": fold}))

    assert await seen(session) == AFTER


async def test_a_rewind_supersedes_a_batch_that_is_under_way(timed: Timed) -> None:
    session = await talked(timed)
    batch = await claim(session)
    succeeded(await session.post("rewind", {"through_sequence": 1}))

    assert refusal(await complete(session, batch)) == (409, "compaction_closed")
    assert await seen(session) == ["u1"]


async def test_a_rewind_shows_the_session_as_it_was_before_and_after_a_batch(timed: Timed) -> None:
    session = await talked(timed)
    await summarised(session)
    await session.append(user("next", "u3"))
    succeeded(await session.post("rewind", {"through_sequence": 43}))
    after = await seen(session)
    succeeded(await session.post("rewind", {"through_sequence": 5}))

    assert after == AFTER
    assert await seen(session) == ["u1", "a0", "r0", "a1", "r1"]


async def test_a_batch_is_no_checkpoint_to_go_back_to(timed: Timed) -> None:
    session = await talked(timed)
    batch = (await summarised(session))["id"]

    assert refusal(await session.post("rewind", {"compaction_id": batch})) == (
        422,
        "compaction_not_restorable",
    )


async def test_replays_show_what_was_and_is_shown(timed: Timed) -> None:
    session = await talked(timed)
    batch = (await summarised(session))["id"]
    await session.append(user("next"))
    latest = await session.read("replay", selector="latest")
    before = await session.read("replay", selector="through:42")
    then = await session.read("replay", selector="through:43")
    alone = await session.read("replay", selector=f"compaction:{batch}")

    def count(replay: Json) -> int:
        return sum(":pair-" in each["id"] for each in replay["messages"])

    assert [count(each) for each in (latest, before, then, alone)] == [10, 0, 10, 10]
    assert len(latest["messages"]) == len(then["messages"]) + 1 == 34
    assert len(before["messages"]) == 42
    assert len(alone["messages"]) == 10


async def test_a_fork_has_the_summaries_or_the_pairs_as_its_cut_says(timed: Timed) -> None:
    session = await talked(timed)
    await summarised(session)
    whole = succeeded(await session.post("fork", {}))
    early = succeeded(await session.post("fork", {"through_sequence": 3}))
    forks = [
        SessionApi(client=session.client, id=each["id"], created=each) for each in (whole, early)
    ]

    assert await seen(forks[0]) == AFTER
    assert await seen(forks[1]) == ["u1", "a0", "r0"]
    assert len(await background(forks[0])) == 0


async def test_a_group_that_waits_or_holds_more_is_passed_over(timed: Timed) -> None:
    session = await goose(timed)
    waiting = message("assistant", [tool_call("w", state="pending")], "aw")
    await session.append(user("go", "u1"), waiting)
    await pairs(session, 20)
    await session.append(assistant("done", "s1"), user("more", "u2"))
    batch = await claim(session)
    succeeded(await complete(session, batch))

    assert called(batch) == FIRST_TEN[:9]
    assert "aw" in await seen(session)


async def test_text_beside_calls_is_hidden_with_them(timed: Timed) -> None:
    session = await goose(timed)
    beside = message("assistant", [text_block("Let me look."), tool_call("t")], "at")
    await session.append(user("go", "u1"), beside, results("t", message_id="rt"))
    await pairs(session, 20)
    await session.append(user("more", "u2"))
    batch = await claim(session)
    succeeded(await complete(session, batch))

    request = batch["pairs"][0]["summary_request"]
    assert "[assistant]: Let me look.\ntool_request(read): {}\n" in texts(request)[0]
    assert "at" not in await seen(session)


async def test_what_is_said_to_the_window_before_a_batch_is_taken(timed: Timed) -> None:
    session = await talked(timed, 40)
    first = (await summarised(session))["id"]
    await summarised(session)
    await session.append(user("next"), base_compaction_id=first)
    other = await session.post(
        "messages", {"messages": [user("x")], "base_compaction_id": "somewhere\x00else"}
    )

    assert refusal(other) == (409, "history_replaced")


async def test_every_call_for_a_pair_is_billed(timed: Timed) -> None:
    session = await talked(timed)
    batch = await claim(session)
    given = told(batch)
    given[0]["usage"] = {"input_tokens": 100, "output_tokens": 10}
    given[1] = {"call_ids": ["c1"], "usage": {"input_tokens": 50, "output_tokens": 0}}
    succeeded(await complete(session, batch, given))
    entries = (await session.read("usage"))["items"]

    assert [(e["input_tokens"], e["cause"], e["estimated"]) for e in entries[:2]] == [
        (100, "tool_pairs", False),
        (50, "summary_unused", False),
    ]
    assert {(e["cause"], e["estimated"]) for e in entries[2:]} == {("tool_pairs", True)}
    assert len(entries) == 10
    assert [e["event"] for e in entries] == [None] * 10


async def test_goose_s_fixing_keeps_a_summary_apart_from_what_was_asked(timed: Timed) -> None:
    policy = {"preset": "goose", "tool_call_cutoff": 2}
    profile = {"name": "model-a", "context_window": WINDOW}
    session = await timed.session(policy=policy, model_profile=profile)
    await session.append(user("go", "u1"))
    await pairs(session, 20)
    await session.append(user("more", "u2"))
    await summarised(session)
    first = (await session.prepare())["request"]["messages"][1]

    assert [block["text"].split(":")[0] for block in first["content"]] == [
        "go",
        *["Context, not a request"] * 10,
    ]


async def plan_pairs(timed: Timed, *conversation: Json, **policy: Any) -> Any:
    body = {
        "policy": {"preset": "goose", "tool_call_cutoff": 2, **policy},
        "model_profile": {"name": "model-a", "context_window": WINDOW},
        "conversation": list(conversation),
        "kind": "tool_pairs",
    }
    return await timed.api.client.post("/v1/compaction/plan", json=body)


def given_pairs(count: int) -> list[Json]:
    """So many pairs without ids, behind a request that no model sees."""
    hidden = {**user("go"), "agent_visible": False}
    found = [
        each for number in range(count) for each in (calls(f"c{number}"), results(f"c{number}"))
    ]
    return [hidden, *found, user("more")]


async def test_the_pairs_of_a_conversation_that_is_given_are_planned_alike(timed: Timed) -> None:
    conversation = given_pairs(20)
    conversation[3]["source"] = {"type": "real", "id": "a1"}
    planned = succeeded(await plan_pairs(timed, *conversation))

    assert (planned["keep_from"], planned["fold_through"]) == (None, None)
    assert [pair["indexes"] for pair in planned["pairs"][:2]] == [[1, 2], [3, 4]]
    assert [pair["message_ids"] for pair in planned["pairs"][:2]] == [[None, None], ["a1", None]]
    assert called(planned) == FIRST_TEN
    assert texts(planned["pairs"][9]["summary_request"]) == [TOLD]


async def test_a_conversation_with_few_pairs_has_no_batch(timed: Timed) -> None:
    few = await plan_pairs(timed, *given_pairs(12))
    off = await plan_pairs(timed, *given_pairs(20), tool_pair_summarization=False)

    assert refusal(few) == refusal(off) == (422, "nothing_to_compact")
