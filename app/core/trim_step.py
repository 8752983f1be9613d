"""Show the newest: a request carries so much of a conversation as its policy says.

Source: docs/semantics/request-copy.md#the-newest-messages.
"""

from app.core.counting import tokens_of_bytes
from app.core.items import Item
from app.core.pairing import pair
from app.core.request_copy import RequestCopy, StepContext
from app.core.trimming import KEEP_ALL, kept_indexes


def show_newest(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy without the messages that the policy's limits leave out.

    A result goes with its call: it was left out on purpose, which is no fault to repair.
    """
    trimming = context.shaping.context_policy
    if trimming == KEEP_ALL:
        return copy
    kept = set(kept_indexes(copy.items, trimming, _tokens))
    if len(kept) < len(copy.items):
        callers = _callers(copy.items)
        kept = {index for index in kept if callers.get(index, index) in kept}
    return copy.with_only(sorted(kept))


def _callers(items: tuple[Item, ...]) -> dict[int, int]:
    """The item with the call that each tool item answers."""
    return {
        answer.item_index: index
        for index, slots in pair(items).slots.items()
        for slot in slots
        if (answer := slot.answer()) is not None
    }


def _tokens(item: Item) -> int:
    return tokens_of_bytes(item.facts.json_bytes)
