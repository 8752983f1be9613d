"""A fold that leaves the newest messages as they are, by their number.

Source: docs/semantics/awaken.md#the-fold.
"""

from collections.abc import Sequence, Set
from typing import Literal, TypeAlias

from app.compaction.errors import EmptyConversation, NothingToCompact
from app.compaction.fold import NOBODY_GONE, FoldPlan, fold_end, planned_fold
from app.core.items import Item

Cut: TypeAlias = Literal["whole_rounds", "strict"]
"""Moved to the left until no tool round is parted, or by the number alone, as Awaken cuts."""


def tail_cut(
    items: Sequence[Item], fold_to: int, cut: Cut, gone_message_ids: Set[str] = NOBODY_GONE
) -> int:
    """The index of the first message that no summary covers.

    Args:
        items: The conversation, in order.
        fold_to: Where the number alone would cut.
        cut: Whether it may be moved; it never goes to the right.
        gone_message_ids: Messages whose calls nobody will answer any more.
    """
    return fold_to if cut == "strict" else fold_end(items, fold_to, gone_message_ids)


def plan_tail_fold(
    items: Sequence[Item],
    keep_last: int,
    cut: Cut,
    gone_message_ids: Set[str] = NOBODY_GONE,
) -> FoldPlan:
    """The fold of everything in front of the kept tail.

    Args:
        items: The conversation, in order.
        keep_last: Messages of the tail, of whatever role, 0 and more.
        cut: Whether the tail may be longer so that no round is parted.
        gone_message_ids: Messages whose calls nobody will answer any more.

    Raises:
        EmptyConversation: There are no items.
        NothingToCompact: The tail is all of it, or nothing in front of it is new.
    """
    if not items:
        raise EmptyConversation("conversation is empty and cannot be compacted")
    fold_to = tail_cut(items, max(0, len(items) - keep_last), cut, gone_message_ids)
    if fold_to == 0:
        raise NothingToCompact(f"no message stands in front of the last {keep_last}, which stay")
    return planned_fold(items[:fold_to])
