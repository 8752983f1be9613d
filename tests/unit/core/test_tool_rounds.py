import pytest

from app.core.blocks import Thinking
from app.core.items import Item
from app.core.tool_rounds import clean_tool_rounds, round_bounds
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    mixed,
    result,
    said,
    system,
    tool,
    user,
)

CALL, OUT = assistant(call("c1")), tool(result("c1", "out"))
THINKING = Thinking(type="thinking", thinking="hm")

CLEANED: list[object] = [
    pytest.param(
        (
            assistant(call("c1"), call("c2")),
            tool(result("c1"), result("ghost"), result("c1", "again")),
            assistant(call("c1")),
        ),
        (CALL, tool(result("c1"))),
        id="CP15",
    ),
    pytest.param((OUT, user("u")), (user("u"),), id="an orphan"),
    pytest.param((CALL, OUT, OUT), (CALL, OUT), id="a second result in another message"),
    pytest.param((CALL, user("u"), OUT), (user("u"),), id="a message between"),
    pytest.param((CALL, OUT, CALL, user("u")), (CALL, OUT, user("u")), id="an id used again"),
    pytest.param((CALL,), (), id="a call alone"),
    pytest.param(
        (assistant("text", call("c1")),), (assistant("text"),), id="the text of a lost call"
    ),
    pytest.param(
        (assistant(THINKING, call("c1")),), (assistant(THINKING),), id="the thinking before it"
    ),
    pytest.param(
        (CALL, tool(result("x")), OUT), (CALL, OUT), id="a foreign result in the run goes"
    ),
    pytest.param(
        (CALL, mixed("tool", "note", result("c1", "out"))), (CALL, OUT), id="text in a tool message"
    ),
    pytest.param(
        (assistant(call("c1"), call("c1")), tool(result("c1"), result("c1"))),
        (CALL, tool(result("c1"))),
        id="two calls of one id",
    ),
    pytest.param((system("s"), assistant(), user("u")), None, id="messages without calls stay"),
]


@pytest.mark.parametrize(("items", "expected"), CLEANED)
def test_only_answered_calls_and_their_first_results_stay(
    items: tuple[Item, ...], expected: tuple[Item, ...] | None
) -> None:
    cleaned = clean_tool_rounds(items, COUNTER)

    assert said(cleaned) == said(items if expected is None else expected)
    assert clean_tool_rounds(cleaned, COUNTER) == cleaned


def test_what_is_whole_is_the_same_item() -> None:
    items = (user("u"), CALL, OUT)

    assert all(
        one is other for one, other in zip(clean_tool_rounds(items, COUNTER), items, strict=True)
    )


def test_a_round_is_a_call_and_the_tool_messages_behind_it() -> None:
    items = (OUT, user("u"), CALL, OUT, OUT, CALL, assistant("a"), OUT)

    assert list(round_bounds(items)) == [(0, 1), (1, 2), (2, 5), (5, 6), (6, 7), (7, 8)]
