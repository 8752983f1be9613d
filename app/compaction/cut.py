"""Legal cuts: a session is never cut between a call and the result that answers it.

Source: docs/semantics/compaction.md#rewind.
"""

from collections.abc import Sequence

from app.core.items import Item
from app.core.pairing import Slot, pair


def legal_cut(items: Sequence[Item], through_sequence: int) -> int:
    """The highest sequence at or below the wanted one that parts no call from its result.

    A call without a result is in nobody's way: its result may still come.

    Args:
        items: All stored messages of the session, in order, those behind the cut included.
        through_sequence: Where to cut.
    """
    cut = through_sequence
    for index, slots in reversed(pair(items).slots.items()):
        begin = items[index].depends_on
        if begin <= cut < _last_answer(items, slots):
            cut = begin - 1
    return cut


def _last_answer(items: Sequence[Item], slots: Sequence[Slot]) -> int:
    answers = (slot.answer() for slot in slots)
    return max(
        (items[answer.item_index].depends_on for answer in answers if answer is not None),
        default=0,
    )
