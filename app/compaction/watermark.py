"""The watermark: up to where old messages are shortened, and when it moves on.

Source: docs/semantics/compaction.md#the-watermark.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.core.blocks import Blocks, ToolCall, ToolResult
from app.core.content import decode_content
from app.core.engine import watermark_copy
from app.core.items import Item, stored_sequence
from app.core.request_copy import StepContext


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunePlan:
    """A move of the watermark that shortens at least one message."""

    through_sequence: int
    """The new watermark."""
    tool_result_ids: tuple[str, ...] = ()
    """Call ids of the results that become shorter, in stored order."""
    call_ids: tuple[str, ...] = ()
    """Ids of the calls whose arguments become shorter, in stored order."""
    thinking_blocks: int = 0
    """Thinking blocks that are left out from then on."""


def plan_prune(items: tuple[Item, ...], context: StepContext) -> PrunePlan | None:
    """The move to the latest stored assistant message, or None where it shortens nothing.

    Results of the latest model response stand behind that message and stay
    whole. Live and synthetic items are ignored.

    Args:
        items: The conversation, in order.
        context: What decides about the steps; its boundary is the watermark so far.
    """
    through = _latest_answer(items)
    current = context.boundary.through_sequence
    if through is None or (current is not None and through <= current):
        return None
    boundary = replace(context.boundary, through_sequence=through)
    before = watermark_copy(items, context)
    after = watermark_copy(items, replace(context, boundary=boundary))
    moved = [
        (decode_content(old.content), decode_content(new.content))
        for old, new in zip(before.items, after.items, strict=True)
        if old is not new and old.content != new.content
    ]
    if not moved:
        return None
    return PrunePlan(
        through_sequence=through,
        tool_result_ids=tuple(call_id for old, new in moved for call_id in _results(old, new)),
        call_ids=tuple(call_id for old, new in moved for call_id in _calls(old, new)),
        thinking_blocks=after.pruned.thinking - before.pruned.thinking,
    )


def _latest_answer(items: Sequence[Item]) -> int | None:
    """The sequence of the latest stored assistant message."""
    answers = (stored_sequence(item) for item in items if item.role == "assistant")
    return max((sequence for sequence in answers if sequence is not None), default=None)


def _results(old: Blocks, new: Blocks) -> Iterator[str]:
    """Ids of the results that differ; no step adds or removes one."""
    befores = (block for block in old if isinstance(block, ToolResult))
    afters = (block for block in new if isinstance(block, ToolResult))
    for before, after in zip(befores, afters, strict=True):
        if before.output != after.output:
            yield before.id


def _calls(old: Blocks, new: Blocks) -> Iterator[str]:
    """Ids of the calls whose arguments differ; no step adds or removes one."""
    befores = (block for block in old if isinstance(block, ToolCall))
    afters = (block for block in new if isinstance(block, ToolCall))
    for before, after in zip(befores, afters, strict=True):
        if before.input != after.input:
            yield before.id
