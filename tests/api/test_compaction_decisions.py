"""What prepare decides at the line: prune first, compact, wait, send anyway, or stop."""

from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import (
    AGENT,
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    tool_result,
    user,
    watermark,
)
from tests.api.compacting import (
    AFTER_FOLD,
    CLAIM_SECONDS,
    LINE,
    LONG,
    POINT,
    Held,
    Timed,
    compact,
    put_turn,
    reasons,
    refusal,
    run_turn,
    start,
    summary_of,
    texts,
)
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

PRUNABLE: Json = {"name": "model-a", "context_window": 24_000, "max_output_tokens": 1_000}
"""At the line from an input of 18 550 tokens on: two results of 30 000 characters are under it."""
ALWAYS: Json = {"name": "model-a", "context_window": 10_000, "max_output_tokens": 6_000}
"""The reserve alone is at the line of 3 400; an input of 4 000 still fits the window."""
TINY: Json = {"name": "model-a", "context_window": 2, "max_output_tokens": 1}


def read(number: int, size: int) -> tuple[Json, Json]:
    """A call and its result of so many characters."""
    result = message("tool", [tool_result(f"read-{number}", str(number) * size)], f"r{number}")
    return calls(f"read-{number}"), result


def outputs(request: Json) -> list[str]:
    """The texts of a request's tool results."""
    return [
        block["output"][0]["text"]
        for sent in request["messages"]
        for block in sent["content"]
        if block["type"] == "tool_result"
    ]


def decision(prepared: Json) -> tuple[str, str]:
    return prepared["decision"]["action"], prepared["decision"]["reason"]


async def in_turn(timed: Timed, **fields: Any) -> SessionApi:
    session = await timed.session(**fields)
    await run_turn(session, lease_seconds=86_400)
    return session


@requirement("OW-7.2-line-reached")
async def test_K23_pruning_brings_a_request_under_the_line_without_a_summary(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=PRUNABLE)
    prepared: list[Json] = []
    reads = read(0, 30_000), read(1, 30_000), read(2, 30_000), read(3, 10)
    appended = ([user("Read.", "u")], *reads)
    for number, messages in enumerate(appended, start=1):
        prepared.append(
            await session.prepare(turn_id="t", model_call=number, append=list(messages))
        )
    fourth, fifth = prepared[3:]
    marker = "... [tool result pruned: 24880 characters omitted]"

    assert [decision(call) for call in prepared] == [("submit", "under_line")] * 5
    assert [call["pruned"]["through_sequence"] for call in prepared] == [None, None, None, 6, 6]
    assert [marker in text for text in outputs(fourth["request"])] == [True, True, False]
    assert outputs(fifth["request"])[:3] == outputs(fourth["request"])
    assert (fourth["prefix"]["cause"], fourth["prefix"]["broken_at"]) == ("prune", 3)
    assert fifth["prefix"]["cause"] is None
    assert (await session.read())["pruned_through_sequence"] == 6
    assert (await session.read("compactions"))["items"] == []
    assert outputs({"messages": [await session.read("messages/r0")]}) == ["0" * 30_000]


async def test_a_pruned_request_can_be_had_again_to_the_byte(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=PRUNABLE)
    whole = await session.prepare(append=[user("Read."), *read(0, 30_000), *read(1, 30_000)])
    pruned = await session.prepare(append=[*read(2, 30_000)])

    for prepared in (whole, pruned):
        assert await session.read(f"prepared/{prepared['prepared_id']}") == prepared["request"]
    assert await session.prepare() == {**pruned, "appended": []}


async def test_a_watermark_that_would_prune_nothing_does_not_move(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=LINE)
    over = await session.prepare(append=[user(LONG), calls("c"), results("c"), assistant("Done.")])

    assert decision(over) == ("compact", "token_limit_reached")
    assert over["pruned"] == watermark(None)
    assert (await session.read())["pruned_through_sequence"] is None


async def test_the_watermark_outlives_a_compaction_and_a_rewind_and_never_goes_back(
    timed: Timed,
) -> None:
    session = await timed.session(model_profile=PRUNABLE)
    await session.append(user("Read."))
    for number in range(3):
        await session.append(*read(number, 30_000))
    await session.prepare()
    moved = (await session.read())["pruned_through_sequence"]
    checkpoint = (await compact(session))["checkpoint"]
    await session.post("rewind", {"undo_compaction": checkpoint["id"]})
    rewound = await session.prepare()

    assert moved == rewound["pruned"]["through_sequence"] == 6
    assert rewound["pruned"]["tool_results"] == 2
    assert (await session.read())["pruned_through_sequence"] == 6


async def test_K24_what_is_still_over_the_line_after_pruning_is_summarised_pruned(
    timed: Timed,
) -> None:
    profile = {"name": "model-a", "context_window": 15_000, "max_output_tokens": 400}
    policy = {"preset": "openwork", "auto_compact_percent": 50}
    session = await in_turn(timed, model_profile=profile, policy=policy)
    appended = [user("Read."), *read(0, 9_000), *read(1, 30_000)]
    prepared = await session.prepare(**POINT, append=appended)
    held = await start(session, kind="threshold", **POINT)
    first, second = outputs(held.answer["summary_request"])
    completed = (await held.complete()).json()

    assert decision(prepared) == ("compact", "token_limit_reached")
    assert prepared["pruned"] == watermark(4, tool_results=1)
    assert "[tool result pruned: 3880 characters omitted]" in first
    assert second == "1" * 30_000
    assert completed["checkpoint"]["kind"] == "threshold"
    assert held.answer["turn_id"] == "t"
    assert (await session.read())["pruned_through_sequence"] == 4


async def test_without_automatic_pruning_the_line_compacts_at_once(timed: Timed) -> None:
    policy = {"preset": "openwork", "auto_prune": False}
    session = await in_turn(timed, model_profile=PRUNABLE, policy=policy)
    appended = [user("Read."), *read(0, 30_000), *read(1, 30_000), *read(2, 30_000)]
    prepared = await session.prepare(**POINT, append=appended)

    assert decision(prepared) == ("compact", "token_limit_reached")
    assert (await session.read())["pruned_through_sequence"] is None


async def test_a_decision_to_compact_names_the_plan_that_is_then_claimed(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=LINE)
    prepared = await session.prepare(**POINT, append=[user(LONG)])
    held = await start(session, kind="threshold", **POINT)

    assert prepared["decision"]["compaction"] == {
        "kind": "threshold",
        "plan_key": held.answer["plan_key"],
    }


async def test_prepare_waits_while_somebody_else_compacts(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=LINE)
    await session.append(user(LONG))
    held = await start(session, kind="threshold", **POINT)
    waiting = await session.prepare(**POINT)
    timed.clock.advance(CLAIM_SECONDS - 1)
    nearly = await session.prepare(**POINT)
    timed.clock.advance(1)
    expired = await session.prepare(**POINT)

    assert decision(waiting) == decision(nearly) == ("wait", "token_limit_reached")
    assert waiting["decision"]["retry_after_ms"] == 5_000
    assert nearly["decision"]["retry_after_ms"] == 1_000
    assert decision(expired) == ("compact", "token_limit_reached")
    assert expired["decision"]["compaction"]["plan_key"] == held.answer["plan_key"]


async def test_a_request_under_the_line_does_not_wait_for_a_compaction(talk: SessionApi) -> None:
    await start(talk)

    assert decision(await talk.prepare()) == ("submit", "under_line")


@requirement("OW-10-same-history-same-bytes", "OW-10-generated-user-messages-are-marked")
async def test_after_the_compaction_the_call_goes_on_with_three_items(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=LINE)
    before = await session.prepare(**POINT, append=[user(LONG), assistant("Hm."), user("Go on.")])
    compaction_id = (await compact(session, kind="threshold", **POINT))["checkpoint"]["id"]
    after = await session.prepare(**POINT, sample=2, include=["provenance"])
    again = await session.prepare(**POINT, sample=2, include=["provenance"])

    assert decision(after) == ("submit", "under_line")
    assert reasons(after) == AFTER_FOLD
    assert [entry["id"] for entry in after["provenance"]] == [
        f"{compaction_id}:{part}" for part in ("last-user", "summary", "reminder")
    ]
    assert texts(after["request"])[0] == "Go on."
    assert (after["prefix"]["cause"], after["prefix"]["broken_at"]) == ("compaction", 1)
    assert after["prefix"]["segments"][:2] == before["prefix"]["segments"][:2]
    assert again == after


async def test_L6_a_line_that_is_always_reached_compacts_at_every_call(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=ALWAYS)
    for number in (1, 2, 3):
        point = {"turn_id": "t", "model_call": number}
        before = await session.prepare(**point, append=[user(f"Step {number}.")])
        await compact(session, summary_of(f"step {number}"), kind="threshold", **point)
        after = await session.prepare(**point)

        assert decision(before) == ("compact", "token_limit_reached")
        assert decision(after) == ("submit", "over_line_after_compaction")
        assert after["budget"]["fits"]
        await session.append(assistant("Done."))
    assert [warning["code"] for warning in session.created["warnings"]] == ["line_always_reached"]


async def test_K18_a_window_that_nothing_fits_is_compacted_before_it_blocks(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=TINY)
    before = await session.prepare(**POINT, append=[user("do the task")])
    completed = await compact(session, kind="threshold", **POINT)
    after = await session.prepare(**POINT)

    assert decision(before) == ("compact", "token_limit_reached")
    assert completed["checkpoint"]["kind"] == "threshold"
    assert decision(after) == ("blocked", "over_line_after_compaction")


async def test_K27_without_anything_to_prune_the_watermark_stays_unset(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=TINY)
    before = await session.prepare(**POINT, append=[user("do the task")])
    await compact(session, kind="threshold", **POINT)

    assert before["pruned"]["through_sequence"] is None
    assert (await session.read())["pruned_through_sequence"] is None


async def test_a_failed_compaction_blocks_its_model_call_and_not_the_next_one(
    timed: Timed,
) -> None:
    session = await in_turn(timed, model_profile=LINE)
    await session.prepare(**POINT, append=[user(LONG)])
    held = await start(session, kind="threshold", **POINT)
    for attempt in (1, 2, 3):
        await held.fail("timeout", attempt)
    blocked = await session.prepare(**POINT)
    following = await session.prepare(turn_id="t", model_call=2)

    assert decision(blocked) == ("blocked", "compaction_failed")
    assert decision(following) == ("compact", "token_limit_reached")


async def test_a_superseded_compaction_does_not_count_for_its_model_call(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=LINE)
    await session.prepare(**POINT, append=[user(LONG)])
    await start(session, kind="threshold", **POINT)
    await session.client.patch(
        f"/v1/sessions/{session.id}", json={"agent": {"system_prompt": "You review code."}}
    )

    assert decision(await session.prepare(**POINT)) == ("compact", "token_limit_reached")


async def test_where_nothing_new_can_be_folded_prepare_sends_what_fits_and_stops_otherwise(
    timed: Timed,
) -> None:
    fitting = await in_turn(timed, model_profile=ALWAYS)
    tight = await in_turn(timed, model_profile=TINY)
    for session in (fitting, tight):
        await session.append(user("Go."))
        await compact(session, kind="threshold", **POINT)
    following = {"turn_id": "t", "model_call": 2}

    assert decision(await fitting.prepare(**following)) == ("submit", "token_limit_reached")
    assert decision(await tight.prepare(**following)) == ("blocked", "cannot_fit")


async def prepare_and_start(session: SessionApi, **body: Any) -> httpx.Response:
    return await session.post("prepare", {"start_compaction": True, **body})


async def test_prepare_starts_the_compaction_it_asks_for(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=LINE)
    response = await prepare_and_start(session, **POINT, append=[user(LONG, "m1")])
    prepared = response.json()
    held = Held(session=session, answer=prepared["decision"]["compaction"])
    completed = (await held.complete()).json()

    assert decision(prepared) == ("compact", "token_limit_reached")
    assert [held.answer[name] for name in ("kind", "turn_id", "model_call", "phase")] == [
        "threshold",
        "t",
        1,
        "pre_turn",
    ]
    assert texts(held.answer["summary_request"])[0] == LONG
    assert completed["status"] == "completed"


async def test_prepare_starts_nothing_under_the_line(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=LINE)
    prepared = (await prepare_and_start(session, **POINT, append=[user("Go.")])).json()

    assert decision(prepared) == ("submit", "under_line")
    assert (await session.read("compactions"))["items"] == []


async def test_a_compaction_that_cannot_start_takes_the_whole_prepare_back(timed: Timed) -> None:
    session = await timed.session(model_profile=LINE)
    broken = [{"kind": "file_change", "payload": {}}]
    late = message("tool", [tool_result("c", artifacts=broken)])
    without_turn = await prepare_and_start(session, append=[user(LONG)])
    await run_turn(session)
    before = await session.read()
    refused = await prepare_and_start(session, **POINT, append=[user(LONG), calls("c"), late])

    assert refusal(without_turn) == (HTTPStatus.CONFLICT, "turn_not_running")
    assert refusal(refused) == (HTTPStatus.UNPROCESSABLE_ENTITY, "state_error")
    assert (await session.read())["version"] == before["version"]
    assert await session.messages() == []
    assert (await session.read("compactions"))["items"] == []


async def test_a_prepare_that_is_refused_later_starts_nothing(timed: Timed) -> None:
    session = await in_turn(timed, model_profile=LINE)
    refused = await prepare_and_start(
        session, **POINT, append=[user(LONG)], expected_message_count=7
    )

    assert refusal(refused) == (HTTPStatus.CONFLICT, "conversation_moved")
    assert (await session.read("compactions"))["items"] == []


async def test_a_manual_compaction_waits_for_the_turn_and_carries_its_rules_no_further(
    timed: Timed,
) -> None:
    plan_tool = {
        "name": "update_plan",
        "description": "Plan",
        "parameters": {},
        "system_rule": "Keep it current.",
    }
    session = await in_turn(timed, agent={**AGENT, "tools": [plan_tool]})
    await session.append(user("Go."))
    in_the_turn = await start(session, kind="threshold", **POINT)
    await put_turn(session, status="completed")
    by_hand = await start(session, supersede=True, instructions="Names.")
    system = [
        held.answer["summary_request"]["messages"][0]["content"] for held in (in_the_turn, by_hand)
    ]

    assert system == [
        [{"type": "text", "text": "You fix bugs.\n\nKeep it current."}],
        [{"type": "text", "text": "You fix bugs."}],
    ]
