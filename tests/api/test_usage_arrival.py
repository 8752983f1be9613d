"""When a report of usage comes, and what follows from it for the next call."""

from http import HTTPStatus
from typing import Any

import pytest

from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    results,
    tool_result,
    user,
)
from tests.api.compacting import LINE, Timed, compact, put_turn, refusal, run_turn
from tests.api.reporting import report, series, totals, usage_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOW: Json = {"name": "model-a", "context_window": 10_000, "max_output_tokens": 400}
"""Effective input 9 600, line 8 160."""
CALL: Json = {"turn_id": "t", "model_call": 1}


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session with one request and its answer."""
    return talk


async def last_call(session: SessionApi) -> Json | None:
    call: Json | None = (await usage_of(session))["last_call"]
    return call


async def test_TC8_a_report_from_before_a_compaction_is_kept_and_changes_no_state(
    session: SessionApi,
) -> None:
    prepared = await session.prepare()
    await compact(session)
    before = await usage_of(session)
    answer = await report(
        session,
        prepared_id=prepared["prepared_id"],
        input_tokens=150_000,
        output_tokens=100,
        new_context_requested=True,
    )
    after = await usage_of(session)

    assert answer["status"]["active_context_tokens"] == before["last_total"]["tokens"]
    assert answer["status"]["prefill_source"] == "estimated"
    assert after == {**before, "totals": totals(1, input_tokens=150_000, output_tokens=100)}
    assert [(entry["event"], entry["late"]) for entry in await series(session)] == [
        ("compaction", False),
        (None, True),
    ]


async def test_TC8_so_is_one_of_an_earlier_call_of_the_turn_that_compacted(
    session: SessionApi,
) -> None:
    await run_turn(session)
    await compact(session, kind="threshold", turn_id="t", model_call=3)
    before = await usage_of(session)
    await report(session, turn_id="t", model_call=2, input_tokens=150_000, output_tokens=100)
    passed = await usage_of(session)
    await report(session, turn_id="t", model_call=3, input_tokens=900, output_tokens=100)

    assert passed["last_total"] == before["last_total"]
    assert (await usage_of(session))["last_total"]["tokens"] == 1_000


async def test_TC8_and_one_that_comes_with_a_message_that_is_summarised(
    session: SessionApi,
) -> None:
    await session.append(user("More.", "m3"), assistant("Yes.", "m4"), user("Go on.", "m5"))
    await compact(session)
    before = await usage_of(session)
    usage = {"model": "model-a", "input_tokens": 150_000, "output_tokens": 100}
    await session.append(assistant("Done.", "m2"), usage=usage)

    assert (await usage_of(session))["last_total"] == before["last_total"]


async def test_the_first_report_of_a_new_window_is_its_baseline(session: SessionApi) -> None:
    await report(session, input_tokens=150_000, output_tokens=100)
    await compact(session)
    between = await usage_of(session)
    prepared = await session.prepare()
    await report(session, prepared_id=prepared["prepared_id"], input_tokens=900, output_tokens=100)
    after = await usage_of(session)

    assert (between["last_total"]["source"], between["last_call"]) == ("estimated", None)
    assert between["prefill_source"] == "estimated"
    assert (after["prefill_source"], after["prefill_input_tokens"]) == ("observed", 900)


async def test_a_report_that_a_later_one_has_passed_moves_nothing_back(
    session: SessionApi,
) -> None:
    first = await session.prepare(append=[user("More.")])
    await session.append(calls("c1"), results("c1"))
    second = await session.prepare()
    await report(session, prepared_id=second["prepared_id"], input_tokens=900, output_tokens=100)
    before = await usage_of(session)
    await report(
        session,
        prepared_id=first["prepared_id"],
        input_tokens=100,
        output_tokens=20,
        new_context_requested=True,
    )
    after = await usage_of(session)

    assert after == {
        **before,
        "new_context_requested": True,
        "totals": totals(2, input_tokens=1_000, output_tokens=120),
    }
    assert [entry["late"] for entry in await series(session)] == [False, True]


async def test_a_lower_model_call_of_the_same_turn_is_passed_too(session: SessionApi) -> None:
    await report(session, turn_id="t", model_call=2, input_tokens=900, output_tokens=100)
    await report(session, turn_id="t", model_call=1, input_tokens=100, output_tokens=20)

    assert (await usage_of(session))["last_total"]["tokens"] == 1_000


async def test_a_report_renews_the_lease_of_its_turn_and_leaves_its_call(
    timed: Timed, session: SessionApi
) -> None:
    await run_turn(session, lease_seconds=100)
    await session.prepare(turn_id="t", model_call=4)
    timed.clock.advance(99)
    await report(session, **CALL, input_tokens=100, output_tokens=20)
    timed.clock.advance(99)
    resume = (await session.read())["resume"]

    assert refusal(await put_turn(session, "other")) == (HTTPStatus.CONFLICT, "turn_active")
    assert (resume["turn_id"], resume["model_call"]) == ("t", 4)


async def test_a_turn_that_only_a_report_names_is_unknown(session: SessionApi) -> None:
    await report(session, **CALL, input_tokens=100, output_tokens=20)
    (turn,) = (await session.read("turns"))["items"]

    assert (turn["id"], turn["status"]) == ("t", "unknown")


FOLLOW_UPS: list[tuple[str, Json, bool]] = [
    ("nothing is said and nothing was asked for", {}, False),
    ("the model goes on", {"needs_follow_up": True}, True),
    ("the model does not go on, whatever it asked for", {"needs_follow_up": False}, False),
    ("the answer asked for tools", {"has_tool_calls": True}, True),
    ("input is pending", {"needs_follow_up": False, "has_pending_input": True}, True),
]


@pytest.mark.parametrize(
    ("fields", "rolls_over"),
    [case[1:] for case in FOLLOW_UPS],
    ids=[case[0] for case in FOLLOW_UPS],
)
async def test_a_window_over_its_line_rolls_over_where_another_call_follows(
    timed: Timed, fields: Json, rolls_over: bool
) -> None:
    session = await timed.session(model_profile=LINE)
    await session.append(user("long " * 2_400, "m1"), assistant("Done.", "m2"))
    answer = await report(session, **fields, input_tokens=100, output_tokens=20)

    assert answer["decision"]["action"] == "compact"
    assert answer["decision"]["roll_over"] is rolls_over


async def test_tools_that_the_answer_asks_for_are_a_follow_up(timed: Timed) -> None:
    session = await timed.session(model_profile=LINE)
    prepared = await session.prepare(append=[user("Read it.")], **CALL)
    large = {"role": "tool", "content": [tool_result("c1", "long " * 2_400)]}
    await session.append(calls("c1"), large)
    named: dict[str, Any] = {**CALL, "prepared_id": prepared["prepared_id"]}
    answer = await report(session, **named, input_tokens=100, output_tokens=20)
    following = await session.prepare(turn_id="t", model_call=2)

    assert answer["decision"]["roll_over"]
    assert following["decision"]["action"] == "compact"


async def test_a_new_context_that_was_asked_for_begins_with_the_next_call_of_the_turn(
    session: SessionApi,
) -> None:
    await session.append(calls("c1"), results("c1"))
    asked = {"new_context_requested": True, "input_tokens": 100, "output_tokens": 20}
    answer = await report(session, **CALL, **asked, needs_follow_up=True)
    next_call = await session.prepare(turn_id="t", model_call=2)
    next_turn = await session.prepare(turn_id="u", model_call=1)

    assert answer["decision"]["roll_over"]
    assert (next_call["decision"]["action"], next_call["decision"]["reason"]) == (
        "compact",
        "new_context_requested",
    )
    assert next_turn["decision"]["action"] == "submit"
    await compact(session)
    after = await session.prepare(turn_id="t", model_call=2)
    assert after["decision"]["action"] == "submit"
    assert not (await usage_of(session))["new_context_requested"]


async def test_a_request_for_a_new_context_waits_for_a_follow_up(session: SessionApi) -> None:
    asked = await report(session, **CALL, new_context_requested=True, needs_follow_up=False)
    following = await report(session, turn_id="t", model_call=2, needs_follow_up=True)

    assert not asked["decision"]["roll_over"]
    assert following["decision"]["roll_over"]
