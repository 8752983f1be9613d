"""Tool pairs over HTTP: old calls and results give way to summaries of their own, in place."""

import pytest

from app.compaction.pair_batch import PAIR_INTRODUCTION
from app.compaction.tool_pairs import PAIR_PROMPT
from tests.api.client import (
    Json,
    assistant,
    calls,
    results,
    succeeded,
    text_block,
    user,
)
from tests.api.compacting import (
    CLAIM_SECONDS,
    Timed,
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
from tests.api.tool_pairs import (
    AFTER,
    FIRST_TEN,
    SUMMARY,
    TOLD,
    WINDOW,
    background,
    called,
    claim,
    complete,
    goose,
    pairs,
    seen,
    summarised,
    talked,
    told,
)
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")


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


async def test_the_preview_offers_the_same_batch_and_claims_nothing(timed: Timed) -> None:
    session = await talked(timed)
    preview = await session.read("context", content="false")
    offered = await background(session)

    assert len(offered) == 1
    assert preview["decision"]["background"] == offered
    assert (await session.read("compactions"))["items"] == []
