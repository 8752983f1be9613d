"""What a compaction folds: everything up to the first call that still waits.

OpenWork folds the whole conversation. Here a call that somebody may still
answer stays behind the summary, together with all that follows it, so that
its result can still take its place.

Source: docs/semantics/compaction.md#the-fold.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from app.compaction.errors import EmptyConversation, MissingLastUser, NothingToCompact
from app.core.items import Item, message_id
from app.core.messages import Real
from app.core.pairing import Slot, pair
from app.core.user_requests import last_user_request

NOBODY_GONE: Set[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldPlan:
    """Where the folded part of a conversation ends, and what it preserves."""

    keep_from: int
    """Index of the first item that stays behind the summary."""
    anchor_index: int
    """Index of the user request that is replayed in front of it."""
    through_sequence: int | None
    """The highest stored sequence that is folded; None where all of it is live."""

    @property
    def fold_through(self) -> int:
        """Index of the last folded item."""
        return self.keep_from - 1

    @property
    def message_count(self) -> int:
        """Folded items, world state included."""
        return self.keep_from


def plan_fold(items: Sequence[Item], gone_message_ids: Set[str] = NOBODY_GONE) -> FoldPlan:
    """The largest fold that takes no waiting call away from its result.

    Args:
        items: The conversation as it is shown, in order.
        gone_message_ids: Messages whose calls nobody will answer any more.
            Such a call waits for ever, so it does not hold a fold back.

    Raises:
        EmptyConversation: There are no items.
        MissingLastUser: No folded item is a user request.
        NothingToCompact: A waiting call stands first, or the fold would hold
            nothing but an earlier compaction and world state.
    """
    if not items:
        raise EmptyConversation("conversation is empty and cannot be compacted")
    keep_from = fold_end(items, gone_message_ids)
    if keep_from == 0:
        raise NothingToCompact("the first message holds a call that still waits for its result")
    folded = items[:keep_from]
    anchor = last_user_request(folded)
    if anchor is None:
        raise MissingLastUser("conversation has no real user request to preserve")
    if not any(map(_is_new, folded)):
        raise NothingToCompact("there is no message since the last compaction that could be folded")
    return FoldPlan(
        keep_from=keep_from, anchor_index=anchor, through_sequence=_last_sequence(folded)
    )


def fold_end(items: Sequence[Item], gone_message_ids: Set[str] = NOBODY_GONE) -> int:
    """The index of the first item that stays behind a summary; all of them where none waits."""
    first = len(items)
    for index, slots in reversed(pair(items).slots.items()):
        is_gone = message_id(items[index]) in gone_message_ids
        # A call whose result stays behind the summary stays with it.
        if any(_is_answered_from(slot, first) for slot in slots) or (
            not is_gone and any(map(_is_open, slots))
        ):
            first = index
    return first


def _is_answered_from(slot: Slot, first: int) -> bool:
    answer = slot.answer()
    return answer is not None and answer.item_index >= first


def _is_open(slot: Slot) -> bool:
    """Whether a result may still come: a final one closes the call, whatever state it has."""
    answer = slot.answer()
    return slot.is_waiting and (answer is None or not answer.is_final)


def _is_new(item: Item) -> bool:
    return isinstance(item.source, Real) and item.kind != "world_state"


def _last_sequence(items: Sequence[Item]) -> int | None:
    sequences = [item.source.sequence for item in items if isinstance(item.source, Real)]
    return max((sequence for sequence in sequences if sequence is not None), default=None)
