"""On record: every tool result is cut the way Codex CLI cuts one that enters its history.

It takes the place of `project` where a policy sets the limit, and depends on
the result and the limit alone.

Source: docs/semantics/request-copy.md#on-record.
"""

from dataclasses import replace

from app.core.blocks import Block, Blocks, Text, ToolResult
from app.core.content import decode_content
from app.core.counting import tokens_of_bytes
from app.core.facts import form_of, visible_bytes
from app.core.items import Item
from app.core.request_copy import ProjectionSummary, RequestCopy, Rewrite, StepContext
from app.core.truncation import Truncation, truncate_items

MARKER_BYTES = 100
"""More than the marker of a cut text and the count of the omitted ones take together."""

_MARKERS = (" tokens truncated…", " chars truncated…", "[omitted ")


def cut_on_record(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with every result cut whose text exceeds the limit and a fifth."""
    truncation = context.shaping.tool_output_truncation
    if truncation is None:
        return copy
    limit = truncation.on_record
    rewrites: dict[int, Rewrite] = {}
    for index, item in enumerate(copy.items):
        if any(fact.visible_bytes > limit.budget_bytes for fact in item.facts.results):
            rewrite = _rewritten(item, limit, context)
            if rewrite.projection.truncated_tool_results:
                rewrites[index] = rewrite
    return copy.with_rewrites(rewrites)


def _rewritten(item: Item, limit: Truncation, context: StepContext) -> Rewrite:
    facts = item.facts
    key = ("on_record", facts.element_sha256, context.counter.basis, limit.mode, limit.limit)
    known = context.memo.get(key)
    if known is not None:
        return known
    blocks: list[Block] = []
    summary = ProjectionSummary()
    for block in decode_content(item.content):
        cut = _cut(block, limit)
        if isinstance(block, ToolResult) and isinstance(cut, ToolResult) and cut is not block:
            summary = summary.plus(_summary(block.output, cut.output))
        blocks.append(cut)
    rewrite = Rewrite(form=form_of(item.role, tuple(blocks), context.counter), projection=summary)
    context.memo[key] = rewrite
    return rewrite


def _cut(block: Block, limit: Truncation) -> Block:
    if not isinstance(block, ToolResult) or _is_within(block.output, limit):
        return block
    return replace(block, output=truncate_items(block.output, limit))


def _is_within(output: Blocks, limit: Truncation) -> bool:
    """Whether the texts of an output are within a limit, or were cut to it before."""
    texts = [block.text for block in output if isinstance(block, Text)]
    excess = sum(len(text.encode()) for text in texts) - limit.budget_bytes
    if excess <= 0:
        return True
    # The marker is not charged, so what was cut to the limit exceeds it by no more than that.
    return excess <= MARKER_BYTES and any(marker in text for text in texts for marker in _MARKERS)


def _summary(before: Blocks, after: Blocks) -> ProjectionSummary:
    return ProjectionSummary(
        truncated_tool_results=1,
        original_tokens=tokens_of_bytes(visible_bytes(before)),
        projected_tokens=tokens_of_bytes(visible_bytes(after)),
    )
