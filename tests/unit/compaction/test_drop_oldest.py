import pytest

from app.compaction.drop_oldest import drop_oldest
from app.core.items import Item
from tests.unit.core.builders import assistant, call, result, tool, user

ASKED, PROMPT = user("do the task"), user("summarise")
CALL, OUT = assistant(call("c1")), tool(result("c1", "out"))
BOTH = assistant(call("c1"), call("c2"))
ONE, TWO = tool(result("c1", "one")), tool(result("c2", "two"))
TOGETHER = tool(result("c1", "one"), result("c2", "two"))

STEPS: list[object] = [
    pytest.param((ASKED, CALL, OUT, PROMPT), (CALL, OUT, PROMPT), id="a message alone"),
    pytest.param((CALL, OUT, ASKED, PROMPT), (ASKED, PROMPT), id="a call and its result"),
    pytest.param((OUT, CALL, ASKED, PROMPT), (ASKED, PROMPT), id="a result and its call"),
    pytest.param((CALL, ASKED, OUT, PROMPT), (ASKED, PROMPT), id="a result further on"),
    pytest.param((CALL, OUT, OUT, PROMPT), (OUT, PROMPT), id="only the first of two results"),
    pytest.param((BOTH, ONE, TWO, PROMPT), (PROMPT,), id="two calls and their results"),
    pytest.param((BOTH, TOGETHER, PROMPT), (PROMPT,), id="results in one message"),
    pytest.param((ONE, BOTH, TWO, PROMPT), (PROMPT,), id="a result, its call, the call beside it"),
    pytest.param((CALL, PROMPT), (PROMPT,), id="a call without a result"),
    pytest.param((OUT, PROMPT), (PROMPT,), id="a result without a call"),
    pytest.param((CALL, OUT, CALL, OUT, PROMPT), (CALL, OUT, PROMPT), id="an id that comes again"),
    pytest.param((PROMPT,), None, id="the only item"),
    pytest.param((), None, id="no item"),
]


@pytest.mark.parametrize(("items", "expected"), STEPS)
def test_the_oldest_item_goes_together_with_its_partners(
    items: tuple[Item, ...], expected: tuple[Item, ...] | None
) -> None:
    assert drop_oldest(items) == expected


def sizes(*items: Item) -> list[int]:
    """How many items each next attempt has."""
    left: tuple[Item, ...] | None = items
    seen = []
    while left is not None:
        seen.append(len(left))
        left = drop_oldest(left)
    return seen


def test_plain_messages_go_one_by_one_until_one_is_left() -> None:
    talk = [user(f"message {number}") for number in range(6)]

    assert sizes(*talk, PROMPT) == [7, 6, 5, 4, 3, 2, 1]


def test_a_pair_goes_in_one_step() -> None:
    assert sizes(CALL, OUT, ASKED, PROMPT) == [4, 2, 1]
