"""Folds that a provider made of a context that it owns.

One message stands for the fold, which only the provider can read. A call
that a result behind the fold answers, or may answer still, stays shown: else
the request would lose both.

Source: docs/semantics/provider-context.md#folds-of-the-provider.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from app.compaction.checkpoint_items import OpaqueItem
from app.compaction.view import View
from app.core import canonical
from app.core.blocks import ProviderOpaque
from app.core.content import encode_content
from app.core.items import Item, stored_sequence
from app.core.pairing import Slot, pair

SUFFIX = "provider"
"""Ends the id of the message that stands for the fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFold:
    """What a provider folded, and what it put in its place."""

    through_sequence: int
    """The last message that it folded."""
    opaque: ProviderOpaque

    @property
    def key(self) -> str:
        """Equal folds have equal keys."""
        return sha256(canonical.encode([self.through_sequence, self.item.content])).hexdigest()

    @property
    def item(self) -> OpaqueItem:
        """The message that stands for the fold."""
        return OpaqueItem(suffix=SUFFIX, content=encode_content((self.opaque,)).decode())


def folded_view(
    view: View, items: Sequence[Item], compaction_id: str, through_sequence: int
) -> View:
    """The view after a provider's fold of `items`, which `view` shows.

    Messages at or below the boundary that stay shown stand behind the fold's own message.
    """
    folded = view.folded(compaction_id, through_sequence)
    open_messages = tuple((at - 1, at) for at in left_open(items, through_sequence))
    return replace(folded, ranges=(*open_messages, *folded.ranges))


def folds_something(items: Sequence[Item], through_sequence: int) -> bool:
    """Whether a stored message that is shown lies at or below a boundary."""
    sequences = map(stored_sequence, items)
    return any(at is not None and at <= through_sequence for at in sequences)


def left_open(items: Sequence[Item], through_sequence: int) -> tuple[int, ...]:
    """The sequences of folded calls that are not settled within the fold, and of their results.

    A call without a result is one of them where it waits, or where nothing but results stands
    behind it: only there a result may still answer it.
    """
    last = max((index for index, item in enumerate(items) if item.role != "tool"), default=-1)
    kept: set[int] = set()
    for index, slots in pair(items).slots.items():
        at = stored_sequence(items[index])
        if at is None or at > through_sequence:
            continue
        places = {_answered_at(slot, items) for slot in slots}
        may_be_answered = any(map(_is_waiting, slots)) or (index == last and 0 in places)
        if may_be_answered or any(place > through_sequence for place in places):
            kept |= {at, *(place for place in places if 0 < place <= through_sequence)}
    return tuple(sorted(kept))


def _answered_at(slot: Slot, items: Sequence[Item]) -> int:
    """The sequence of the result that takes a call's place; 0 where there is none."""
    answer = slot.answer()
    return 0 if answer is None else stored_sequence(items[answer.item_index]) or 0


def _is_waiting(slot: Slot) -> bool:
    """Whether a late result may still take the place of what there is."""
    answer = slot.answer()
    return slot.is_waiting and (answer is None or not answer.is_final)
