"""What of a request copy a provider holds already, and what follows it.

The copy is made of the whole conversation and cut afterwards: a result is
paired with its call wherever that stands, so a result whose call the provider
holds is no orphan but the very thing that the provider waits for.

Source: docs/semantics/provider-context.md#what-is-sent.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.core.items import Item, message_id
from app.core.messages import Synthetic
from app.core.request_copy import Repair, RequestCopy


def without_held(copy: RequestCopy, originals: Sequence[Item]) -> RequestCopy:
    """The copy without what the provider holds; the same copy where it holds nothing.

    Args:
        copy: Well paired, of the whole conversation.
        originals: What it was made from, which its repairs speak of.
    """
    if copy.held_through is None:
        return copy
    last_held = _last_held(copy)
    sent = tuple(
        item
        for index, item in enumerate(copy.items)
        if not copy.holds_back(item) or (index > last_held and _is_made_result(item))
    )
    held = {message_id(item) for item in originals if copy.holds_back(item)} - {None}
    # The made results that are sent although their call is held answer this message.
    caller = message_id(copy.items[last_held]) if last_held >= 0 else None
    repairs = (repair for repair in copy.repairs if _is_of_sent(repair, held, caller))
    return replace(copy, items=sent, repairs=tuple(repairs))


def _last_held(copy: RequestCopy) -> int:
    """The index of the last held message that is no tool result; -1 where there is none.

    A request that told the provider of it also told what had been made for the calls before it.
    """
    held = (
        index
        for index, item in enumerate(copy.items)
        if item.role != "tool" and copy.holds_back(item)
    )
    return max(held, default=-1)


def _is_made_result(item: Item) -> bool:
    source = item.source
    return isinstance(source, Synthetic) and source.reason == "interrupted_tool_result"


def _is_of_sent(repair: Repair, held: set[str | None], caller: str | None) -> bool:
    """Whether a repair is of what is sent; made results are of the call that they answer."""
    if repair.message_id not in held:
        return True
    return repair.code == "tool_result_synthesised" and repair.message_id == caller
