"""What a compaction folds: everything up to the first call that still waits.

OpenWork folds the whole conversation, Codex CLI before a turn only what the
model has answered. Here a call that somebody may still answer stays behind
the summary, together with all that follows it, so that its result can still
take its place.

Source: docs/semantics/compaction.md#the-fold.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from app.compaction.errors import EmptyConversation, MissingLastUser, NothingToCompact
from app.compaction.record import CompactionPhase
from app.core.items import Item, message_id, stored_sequence
from app.core.messages import Real, Synthetic, SyntheticReason
from app.core.pairing import Slot, pair
from app.core.user_requests import last_user_request

NOBODY_GONE: Set[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldPlan:
    """Where the folded part of a conversation ends, and what it preserves."""

    keep_from: int
    """Index of the first item that stays behind the summary."""
    anchor_index: int | None
    """Index of the last user request in the folded part; None where it holds none."""
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
    keep_from = _checked_end(items, len(items), gone_message_ids)
    if last_user_request(items[:keep_from]) is None:
        raise MissingLastUser("conversation has no real user request to preserve")
    return planned_fold(items[:keep_from])


def plan_open_fold(
    items: Sequence[Item], phase: CompactionPhase, gone_message_ids: Set[str] = NOBODY_GONE
) -> FoldPlan:
    """The largest fold of a phase, whether or not a user request is in it.

    Before a turn, what stands behind the last answer of the model begins the
    turn and is not folded; in any other phase everything may be.

    Raises:
        EmptyConversation: There are no items.
        NothingToCompact: Nothing may be folded, or nothing new.
    """
    limit = answered_end(items) if phase == "pre_turn" else len(items)
    return planned_fold(items[: _checked_end(items, limit, gone_message_ids)])


def answered_end(items: Sequence[Item]) -> int:
    """The index behind the last answer of the model and the run of results that follows it."""
    answers = [index for index, item in enumerate(items) if item.role == "assistant"]
    if not answers:
        return 0
    behind = range(answers[-1] + 1, len(items))
    return next((index for index in behind if items[index].role != "tool"), len(items))


def fold_end(items: Sequence[Item], limit: int, gone_message_ids: Set[str] = NOBODY_GONE) -> int:
    """The index of the first item that stays behind a summary; the limit where none waits."""
    first = limit
    for index, slots in reversed(pair(items).slots.items()):
        is_gone = message_id(items[index]) in gone_message_ids
        # A call whose result stays behind the summary stays with it.
        if index < first and (
            any(_is_answered_from(slot, first) for slot in slots)
            or (not is_gone and any(map(_is_open, slots)))
        ):
            first = index
    return first


def planned_fold(folded: Sequence[Item]) -> FoldPlan:
    """The plan that folds just these, the front of a conversation.

    Raises:
        NothingToCompact: No message of them came after the last summary.
    """
    if not _holds_new(folded):
        raise NothingToCompact("there is no message since the last compaction that could be folded")
    return FoldPlan(
        keep_from=len(folded),
        anchor_index=last_user_request(folded),
        through_sequence=_last_sequence(folded),
    )


def _checked_end(items: Sequence[Item], limit: int, gone_message_ids: Set[str]) -> int:
    if not items:
        raise EmptyConversation("conversation is empty and cannot be compacted")
    if limit == 0:
        raise NothingToCompact("the model has answered nothing that could be folded before a turn")
    keep_from = fold_end(items, limit, gone_message_ids)
    if keep_from == 0:
        raise NothingToCompact("the first message holds a call that still waits for its result")
    return keep_from


def _is_answered_from(slot: Slot, first: int) -> bool:
    answer = slot.answer()
    return answer is not None and answer.item_index >= first


def _is_open(slot: Slot) -> bool:
    """Whether a result may still come: a final one closes the call, whatever state it has."""
    answer = slot.answer()
    return slot.is_waiting and (answer is None or not answer.is_final)


def _holds_new(folded: Sequence[Item]) -> bool:
    """Whether something but world state came after the last summary, a tool pair included.

    Stored messages in front of it are shown again by the compaction that made it.
    """
    for item in reversed(folded):
        if isinstance(item.source, Real) and item.kind != "world_state":
            return True
        if _is_made(item, "tool_pair_summary"):
            return True
        if _is_made(item, "compaction_summary"):
            return False
    return False


def _is_made(item: Item, reason: SyntheticReason) -> bool:
    return isinstance(item.source, Synthetic) and item.source.reason == reason


def _last_sequence(items: Sequence[Item]) -> int | None:
    """The last stored message that is folded, itself or in the summary of a tool pair."""
    sequences = [
        item.depends_on or None if _is_made(item, "tool_pair_summary") else stored_sequence(item)
        for item in items
    ]
    return max((sequence for sequence in sequences if sequence is not None), default=None)
