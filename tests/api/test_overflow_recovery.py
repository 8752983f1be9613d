"""A provider refused a prepared call as too long: prune, compact once, or stop with the reason."""

from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    tool_result,
    user,
    watermark,
)
from tests.api.compacting import (
    AFTER_FOLD,
    LINE,
    LONG,
    POINT,
    Held,
    Timed,
    compact,
    reasons,
    refusal,
    request_compaction,
    run_turn,
    start,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

OVERFLOW = ("compact", "context_overflow")
BLOCKED = ("blocked", "context_overflow")


def report(prepared: Json, delivery: str = "not_sent") -> Json:
    return {
        "recover_from": {
            "prepared_id": prepared["prepared_id"],
            "error": "context_overflow",
            "delivery": delivery,
        }
    }


def decision(prepared: Json) -> tuple[str, str]:
    return prepared["decision"]["action"], prepared["decision"]["reason"]


async def in_turn(timed: Timed, *messages: Json, **fields: Any) -> SessionApi:
    """A session in its turn; without a profile given, far under its line."""
    session = await timed.session(**fields)
    await run_turn(session, lease_seconds=86_400)
    await session.append(*messages)
    return session


def long_read(number: int) -> tuple[Json, Json]:
    result = message("tool", [tool_result(f"c{number}", str(number) * 9_000)])
    return calls(f"c{number}"), result


@pytest.mark.parametrize("delivery", ["not_sent", "possibly_sent", "accepted_no_semantic_output"])
async def test_K17_an_overflow_compacts_and_the_call_is_prepared_again(
    timed: Timed, delivery: str
) -> None:
    session = await in_turn(timed, user("do the task"))
    first = await session.prepare(**POINT, sample=1)
    recovered = await session.prepare(**POINT, **report(first, delivery))
    held = await start(session, kind="overflow", **POINT)
    checkpoint = (await held.complete()).json()["checkpoint"]
    second = await session.prepare(**POINT, sample=2, include=["provenance"])

    assert decision(recovered) == OVERFLOW
    assert recovered["decision"]["compaction"] == {
        "kind": "overflow",
        "plan_key": held.answer["plan_key"],
    }
    assert (checkpoint["kind"], held.answer["turn_id"]) == ("overflow", "t")
    assert decision(second) == ("submit", "under_line")
    assert reasons(second) == AFTER_FOLD
    assert second["prepared_id"] != first["prepared_id"]


async def test_K19_an_overflow_after_the_compaction_of_the_call_is_blocked(timed: Timed) -> None:
    session = await in_turn(timed, user(LONG), assistant("Hm."), user("Go on."), model_profile=LINE)
    await compact(session, kind="threshold", **POINT)
    prepared = await session.prepare(**POINT)
    blocked = await session.prepare(**POINT, **report(prepared))
    again = await session.prepare(**POINT, **report(prepared))

    assert decision(prepared) == ("submit", "under_line")
    assert decision(blocked) == BLOCKED
    assert again == blocked
    assert len((await session.read("compactions"))["items"]) == 1


async def test_K25_an_overflow_is_answered_by_pruning_where_that_helps(timed: Timed) -> None:
    session = await in_turn(timed, user("Read."), *long_read(0), *long_read(1))
    third = await session.prepare(turn_id="t", model_call=3)
    recovered = await session.prepare(turn_id="t", model_call=3, **report(third))
    again = await session.prepare(turn_id="t", model_call=3, **report(third))
    fourth = await session.prepare(turn_id="t", model_call=4, append=[assistant("Read.")])

    assert decision(recovered) == ("submit", "under_line")
    assert recovered["pruned"] == watermark(4, tool_results=1)
    assert recovered["prepared_id"] != third["prepared_id"]
    assert again == recovered
    assert fourth["pruned"] == recovered["pruned"]
    assert (await session.read("compactions"))["items"] == []


async def test_an_overflow_compacts_where_pruning_leaves_the_line_reached(timed: Timed) -> None:
    profile = {"name": "model-a", "context_window": 4_600, "max_output_tokens": 400}
    session = await in_turn(
        timed, user("Read."), *long_read(0), *long_read(1), model_profile=profile
    )
    over = await session.prepare(**POINT)
    recovered = await session.prepare(**POINT, **report(over))

    assert decision(over) == ("compact", "token_limit_reached")
    assert decision(recovered) == OVERFLOW
    assert recovered["pruned"]["tool_results"] == 1


async def test_pruning_does_not_use_up_the_compaction_of_its_call(timed: Timed) -> None:
    profile = {"name": "model-a", "context_window": 5_500, "max_output_tokens": 400}
    session = await in_turn(
        timed, user("Read."), *long_read(0), *long_read(1), model_profile=profile
    )
    pruned = await session.prepare(**POINT)
    recovered = await session.prepare(**POINT, **report(pruned))

    assert decision(pruned) == ("submit", "under_line")
    assert pruned["pruned"]["tool_results"] == 1
    assert decision(recovered) == OVERFLOW


async def test_K28_nothing_is_sent_again_once_output_was_emitted(timed: Timed) -> None:
    session = await in_turn(timed, user("Read."), *long_read(0), *long_read(1))
    prepared = await session.prepare(**POINT)
    blocked = await session.prepare(**POINT, **report(prepared, "semantic_output_emitted"))
    again = await session.prepare(**POINT, **report(prepared, "semantic_output_emitted"))

    assert decision(blocked) == BLOCKED
    assert blocked["decision"]["detail"] == "output was emitted already"
    assert again == blocked
    assert blocked["pruned"]["through_sequence"] is None


async def test_K28_no_other_error_is_recovered_from(timed: Timed) -> None:
    session = await in_turn(timed, user("Go."))
    given = report(await session.prepare(**POINT))
    given["recover_from"]["error"] = "invalid_request"
    response = await session.post("prepare", {**POINT, **given})

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request")


async def test_a_report_is_answered_the_same_until_the_compaction_is_done(timed: Timed) -> None:
    session = await in_turn(timed, user("Go."))
    first = await session.prepare(**POINT)
    recovered = await session.prepare(**POINT, **report(first))
    again = await session.prepare(**POINT, **report(first))
    await compact(session, kind="overflow", **POINT)
    done = await session.prepare(**POINT, **report(first))

    assert again == recovered
    assert decision(done) == ("submit", "under_line")
    assert done["prepared_id"] != first["prepared_id"]


async def test_a_second_overflow_is_one_of_a_later_call(timed: Timed) -> None:
    session = await in_turn(timed, user("Go."))
    first = await session.prepare(**POINT)
    await session.prepare(**POINT, **report(first))
    await compact(session, kind="overflow", **POINT)
    second = await session.prepare(**POINT, **report(first))
    blocked = await session.prepare(**POINT, **report(second))
    await session.append(assistant("Hm."), user("Again."))
    next_call = {"turn_id": "t", "model_call": 2}
    third = await session.prepare(**next_call)
    recovered = await session.prepare(**next_call, **report(third))

    assert decision(blocked) == BLOCKED
    assert "after the compaction of this model call" in blocked["decision"]["detail"]
    assert decision(recovered) == OVERFLOW


async def test_an_overflow_with_nothing_to_fold_is_blocked(timed: Timed) -> None:
    session = await in_turn(timed, user("Go."))
    await compact(session, kind="overflow", **POINT)
    next_call = {"turn_id": "t", "model_call": 2}
    prepared = await session.prepare(**next_call)
    blocked = await session.prepare(**next_call, **report(prepared))
    again = await session.prepare(**next_call, **report(prepared))

    assert decision(prepared) == ("submit", "under_line")
    assert decision(blocked) == ("blocked", "cannot_fit")
    assert again == blocked


async def test_an_overflow_whose_compaction_failed_is_blocked(timed: Timed) -> None:
    session = await in_turn(timed, user("Go."))
    first = await session.prepare(**POINT)
    await session.prepare(**POINT, **report(first))
    held = await start(session, kind="overflow", **POINT)
    for attempt in (1, 2, 3):
        await held.fail("timeout", attempt)
    blocked = await session.prepare(**POINT, **report(first))

    assert decision(blocked) == ("blocked", "compaction_failed")


async def start_recovery(session: SessionApi, prepared: Json) -> httpx.Response:
    return await session.post("prepare", {**POINT, **report(prepared), "start_compaction": True})


async def test_the_report_starts_the_compaction_where_it_is_asked_to(timed: Timed) -> None:
    session = await in_turn(timed, user("Go."))
    first = await session.prepare(**POINT)
    recovered = (await start_recovery(session, first)).json()
    held = Held(session=session, answer=recovered["decision"]["compaction"])
    elsewhere = await session.prepare(**POINT, **report(first))
    same_plan = (await request_compaction(session, kind="overflow", **POINT)).json()

    assert decision(recovered) == OVERFLOW
    assert held.answer["kind"] == "overflow"
    assert decision(elsewhere) == ("wait", "context_overflow")
    assert (same_plan["id"], same_plan["claim"]) == (held.id, None)
    assert (await held.complete()).json()["status"] == "completed"


async def test_a_report_on_a_call_that_was_never_prepared_is_not_found(timed: Timed) -> None:
    session = await in_turn(timed, user("Go."))
    other = await in_turn(timed, user("Go."))
    elsewhere = await other.prepare(**POINT)

    for prepared_id in (elsewhere["prepared_id"], f"prep-{0:032}", "", "prep-\0", "x" * 300):
        body = {**POINT, **report({"prepared_id": prepared_id}), "append": [user("More.")]}
        response = await session.post("prepare", body)

        assert refusal(response) == (HTTPStatus.NOT_FOUND, "prepared_not_found")
    assert len(await session.messages()) == 1


async def test_an_overflow_outside_of_a_turn_names_its_plan(timed: Timed) -> None:
    session = await timed.session()
    await session.append(user("Go."))
    first = await session.prepare()
    recovered = await session.prepare(**report(first))

    assert decision(recovered) == OVERFLOW
