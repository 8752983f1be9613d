"""What follows a sample: whether the turn goes on, and whether with a compaction."""

from typing import Any

import pytest

from tests.api.client import Json, SessionApi, assistant, calls, results, tool_result, user
from tests.api.compacting import LINE, LONG, Timed, compact
from tests.api.reporting import report, usage_of

CALL: Json = {"turn_id": "t", "model_call": 1}
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session with one request and its answer."""
    return talk


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
    await session.append(user(LONG, "m1"), assistant("Done.", "m2"))
    answer = await report(session, **fields, input_tokens=100, output_tokens=20)

    assert answer["decision"]["action"] == "compact"
    assert answer["decision"]["roll_over"] is rolls_over


async def test_tools_that_the_answer_asks_for_are_a_follow_up(timed: Timed) -> None:
    session = await timed.session(model_profile=LINE)
    prepared = await session.prepare(append=[user("Read it.")], **CALL)
    large = {"role": "tool", "content": [tool_result("c1", LONG)]}
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
