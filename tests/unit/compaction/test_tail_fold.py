import pytest

from app.compaction.errors import EmptyConversation, NothingToCompact
from app.compaction.fold import FoldPlan
from app.compaction.tail_fold import plan_tail_fold, tail_cut
from app.core.items import Item
from tests.requirements import requirement
from tests.unit.core.builders import (
    assistant,
    call,
    result,
    stored,
    synthetic,
    tool,
    user,
)

CALL, OUT = assistant(call("c1")), tool(result("c1"))
BOTH, TWO = assistant(call("c1"), call("c2")), tool(result("c2"))
U = user("u")

CUTS: list[object] = [
    pytest.param((U, CALL, OUT, U), 2, 1, id="M1"),
    pytest.param((U, CALL, OUT, U, assistant("a")), 3, 3, id="M2"),
    pytest.param((U, BOTH, OUT, TWO, U), 2, 1, id="M3"),
    pytest.param((), 0, 0, id="M4"),
    pytest.param((U, BOTH, OUT, TWO, U), 3, 1, id="between two results"),
    pytest.param((CALL, OUT, U), 1, 0, id="nothing is left in front"),
    pytest.param((U, CALL, U, U), 3, 3, id="a call that nobody answered is folded"),
    pytest.param((U, assistant(call("w", state="pending")), U, U), 3, 1, id="a call that waits"),
    pytest.param((CALL, OUT, CALL, OUT, U), 3, 2, id="an id that is used again"),
]


@pytest.mark.parametrize(("items", "fold_to", "cut"), CUTS)
def test_a_cut_moves_in_front_of_a_round_that_it_would_part(
    items: tuple[Item, ...], fold_to: int, cut: int
) -> None:
    assert tail_cut(items, fold_to, "whole_rounds") == cut
    assert tail_cut(items, fold_to, "strict") == fold_to


def test_a_call_that_nobody_will_answer_holds_no_cut_back() -> None:
    items = stored(U, assistant(call("w", state="pending")), U, U)

    assert tail_cut(items, 3, "whole_rounds", {"m2"}) == 3


@requirement("AW-compact-keep-last")
@pytest.mark.parametrize(("keep_last", "keep_from"), [(0, 4), (1, 3), (2, 2), (3, 1)])
def test_the_tail_stays_in_front_of_nothing(keep_last: int, keep_from: int) -> None:
    items = stored(user("0"), assistant("1"), user("2"), assistant("3"))

    assert plan_tail_fold(items, keep_last, "whole_rounds") == FoldPlan(
        keep_from=keep_from, anchor_index=2 if keep_from > 2 else 0, through_sequence=keep_from
    )


def test_H21_a_fold_keeps_a_round_whole_unless_it_is_told_to_cut_by_number() -> None:
    items = stored(user("0"), assistant("1"), user("2"), CALL, OUT, assistant("done"))

    assert plan_tail_fold(items, 2, "whole_rounds").keep_from == 3
    assert plan_tail_fold(items, 2, "strict").keep_from == 4


@pytest.mark.parametrize(
    ("items", "keep_last"),
    [
        ((U, U), 2),
        ((U, U), 9),
        ((CALL, OUT, U), 2),
        ((U, synthetic("user", "compaction_summary", "s"), U), 1),
    ],
    ids=["a tail of all", "a longer tail", "a round at the cut", "nothing new"],
)
def test_a_fold_of_nothing_is_refused(items: tuple[Item, ...], keep_last: int) -> None:
    with pytest.raises(NothingToCompact):
        plan_tail_fold(items, keep_last, "whole_rounds")


def test_an_empty_conversation_is_refused() -> None:
    with pytest.raises(EmptyConversation):
        plan_tail_fold((), 8, "whole_rounds")
