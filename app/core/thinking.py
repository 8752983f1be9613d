"""Thinking: that of finished tool loops is left out, a loop at a time.

A loop is what an assistant says and does between two user requests. Providers
check the signatures of a loop together, so all of it goes or none.

Source: docs/semantics/request-copy.md#thinking.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from app.core.blocks import Block, Text, Thinking, ToolCall
from app.core.content import decode_content
from app.core.facts import form_of
from app.core.items import Item, is_stored_through
from app.core.pairing import Slot, pair
from app.core.request_copy import PruneCounts, RequestCopy, Rewrite, StepContext

_TAG = b'"type":"thinking"'
"""Stands in the bytes of every message that holds thinking, and hardly in any other."""

_EMPTY_CONTENT = b"[]"


def drop_thinking(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy without the thinking of loops that ended at or below the boundary."""
    through = context.boundary.through_sequence
    if through is None or context.shaping.drop_old_thinking == "keep":
        return copy
    loops = [
        loop
        for loop in _loops(copy.items, through)
        if any(_TAG in copy.items[index].content for index in loop)
    ]
    if not loops:
        return copy
    waiting = _waiting(copy.items, through)
    rewrites: dict[int, Rewrite] = {}
    for loop in loops:
        if waiting.isdisjoint(loop):
            rewrites |= _without_thinking(copy.items, loop, context)
    return copy.with_rewrites(rewrites)


def drop_emptied(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy without the messages of those loops that hold nothing any more."""
    through = context.boundary.through_sequence
    if through is None or context.shaping.drop_old_thinking == "keep":
        return copy
    empty = {
        index
        for loop in _loops(copy.items, through)
        for index in loop
        if copy.items[index].content == _EMPTY_CONTENT
    }
    if not empty:
        return copy
    kept = tuple(item for index, item in enumerate(copy.items) if index not in empty)
    return replace(copy, items=kept)


def _loops(items: Sequence[Item], through: int) -> Iterator[tuple[int, ...]]:
    """The stored assistant messages of every loop that a request at or below `through` ended."""
    requests = [
        index for index, item in enumerate(items) if item.role == "user" and item.kind == "normal"
    ]
    while requests and not is_stored_through(items[requests[-1]], through):
        requests.pop()
    for before, after in pairwise((-1, *requests)):
        yield tuple(
            index
            for index in range(before + 1, after)
            if items[index].role == "assistant" and is_stored_through(items[index], through)
        )


def _waiting(items: Sequence[Item], through: int) -> set[int]:
    """The messages with a call that waits, as far as what is at or below `through` tells."""
    return {
        index
        for index, slots in pair(items).slots.items()
        if any(_waits(slot, items, through) for slot in slots)
    }


def _waits(slot: Slot, items: Sequence[Item], through: int) -> bool:
    # What was stored later must not decide: the thinking would come back, or go, in between moves.
    offers = [offer for offer in slot.offers if is_stored_through(items[offer.item_index], through)]
    waited = slot.call.state != "finished" or bool(offers and not offers[0].is_final)
    return waited and not any(offer.is_final for offer in offers)


def _without_thinking(
    items: Sequence[Item], loop: Sequence[int], context: StepContext
) -> dict[int, Rewrite]:
    rewrites = {index: _rewritten(items[index], context) for index in loop}
    if not any(rewrite.pruned.thinking for rewrite in rewrites.values()):
        return {}
    return {
        index: rewrite
        for index, rewrite in rewrites.items()
        if rewrite.form.content != items[index].content
    }


def _rewritten(item: Item, context: StepContext) -> Rewrite:
    key = ("thinking", item.facts.element_sha256, context.counter.basis)
    known = context.memo.get(key)
    if known is not None:
        return known
    blocks = decode_content(item.content)
    kept = tuple(_unsigned(block) for block in blocks if not isinstance(block, Thinking))
    rewrite = Rewrite(
        form=form_of(item.role, kept, context.counter),
        pruned=PruneCounts(thinking=len(blocks) - len(kept)),
    )
    context.memo[key] = rewrite
    return rewrite


def _unsigned(block: Block) -> Block:
    """A block without the state that belongs to the thinking before it."""
    if isinstance(block, Text | ToolCall) and block.provider_state is not None:
        return replace(block, provider_state=None)
    return block
