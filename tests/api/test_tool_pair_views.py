"""Batches of tool pairs beside other compactions: shown, gone back to, forked and billed."""

from typing import Any

import pytest

from app.compaction.pair_batch import PAIR_INTRODUCTION
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
    Timed,
    compact,
    refusal,
    start,
    texts,
)
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

pytestmark = pytest.mark.asyncio(loop_scope="module")


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
