"""Legal cuts: no call is parted from the result that answers it."""

import pytest

from app.compaction.cut import legal_cut
from app.core.items import Item
from tests.unit.core.builders import assistant, call, result, stored, tool, user

ROUND = stored(
    user("go"),
    assistant(call("c1"), call("c2")),
    tool(result("c1")),
    tool(result("c2")),
    assistant("done"),
)


@pytest.mark.parametrize(
    ("wanted", "cut"),
    [(0, 0), (1, 1), (2, 1), (3, 1), (4, 4), (5, 5)],
    ids=["nothing", "before", "calls", "one of two results", "whole round", "everything"],
)
def test_a_round_is_taken_whole_or_not_at_all(wanted: int, cut: int) -> None:
    assert legal_cut(ROUND, wanted) == cut


def test_rounds_behind_each_other_are_cut_between_them() -> None:
    items = stored(
        assistant(call("c1")), tool(result("c1")), assistant(call("c2")), tool(result("c2"))
    )

    assert [legal_cut(items, wanted) for wanted in range(5)] == [0, 0, 2, 2, 4]


def test_a_call_without_a_result_is_cut_from_nothing() -> None:
    items = stored(user("go"), assistant(call("c1", state="pending")), user("and?"))

    assert [legal_cut(items, wanted) for wanted in range(4)] == [0, 1, 2, 3]


WAITED = stored(
    user("go"),
    assistant(call("c1", state="pending")),
    user("and?"),
    assistant(call("c2")),
    tool(result("c2")),
    tool(result("c1")),
)


def test_a_late_result_stays_with_the_call_that_waited_for_it() -> None:
    assert [legal_cut(WAITED, wanted) for wanted in range(7)] == [0, 1, 1, 1, 1, 1, 6]


@pytest.mark.parametrize(
    "items",
    [
        stored(assistant(call("c1")), user("stop"), tool(result("c1"))),
        stored(user("go"), user("and"), tool(result("ghost"))),
    ],
    ids=["of an interrupted call", "of no call"],
)
def test_a_result_that_answers_nothing_holds_no_cut_back(items: tuple[Item, ...]) -> None:
    assert [legal_cut(items, wanted) for wanted in range(4)] == [0, 1, 2, 3]
