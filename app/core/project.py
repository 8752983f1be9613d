"""Project: one tool result never takes more than its share of the window.

Sizes here are raw UTF-8 bytes, not JSON bytes, so a result full of quotes
may show more tokens in the budget than the limit.

Source: docs/semantics/request-copy.md#project.
"""

from dataclasses import replace

from app.core.blocks import Block, Blocks, Data, Text, ToolResult, text_block
from app.core.content import decode_content
from app.core.counting import BYTES_PER_TOKEN, tokens_of_bytes
from app.core.facts import form_of, visible_bytes
from app.core.items import Item
from app.core.json_cut import cut_json
from app.core.prune import with_single_text
from app.core.request_copy import ProjectionSummary, RequestCopy, Rewrite, StepContext
from app.core.shaping import Cut
from app.core.text import prefix_within, suffix_within

DEFAULT_MAX_TOOL_RESULT_TOKENS = 8_000
"""OpenWork's limit of one projected tool result."""

HEAD_PERCENT = 75
"""Share of a cut result that comes from its start."""


def project(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with every oversized result cut to the limit, unless another cut is asked for."""
    if context.shaping.tool_output_truncation is not None:
        return copy
    limit = context.max_tool_result_tokens
    return copy.with_rewrites(
        {
            index: _rewritten(item, context)
            for index, item in enumerate(copy.items)
            if any(tokens_of_bytes(fact.visible_bytes) > limit for fact in item.facts.results)
        }
    )


def _rewritten(item: Item, context: StepContext) -> Rewrite:
    limit = context.max_tool_result_tokens
    cut = context.shaping.cut
    key = ("project", cut, item.facts.element_sha256, context.counter.basis, limit)
    known = context.memo.get(key)
    if known is not None:
        return known
    blocks: list[Block] = []
    summary = ProjectionSummary()
    for block in decode_content(item.content):
        projected, done = _projected_block(block, limit, cut)
        blocks.append(projected)
        summary = summary.plus(done)
    rewrite = Rewrite(form=form_of(item.role, tuple(blocks), context.counter), projection=summary)
    context.memo[key] = rewrite
    return rewrite


def _projected_block(block: Block, limit_tokens: int, cut: Cut) -> tuple[Block, ProjectionSummary]:
    if not isinstance(block, ToolResult):
        return block, ProjectionSummary()
    original = tokens_of_bytes(visible_bytes(block.output))
    if original <= limit_tokens:
        return block, ProjectionSummary()
    output = _projected_output(block.output, original, limit_tokens, cut)
    summary = ProjectionSummary(
        truncated_tool_results=1,
        original_tokens=original,
        projected_tokens=tokens_of_bytes(visible_bytes(output)),
    )
    return replace(block, output=output), summary


def _projected_output(output: Blocks, original_tokens: int, limit_tokens: int, cut: Cut) -> Blocks:
    kept = _without_data(output)
    # Unlike prune, project joins the text blocks with nothing between them.
    text = "".join(block.text for block in kept if isinstance(block, Text)).encode()
    if tokens_of_bytes(len(text)) > limit_tokens:
        cut_text = _json_cut(text, limit_tokens) if cut == "json" else None
        kept = with_single_text(kept, cut_text or _cut(text, original_tokens, limit_tokens))
    return tuple(block for block in kept if not (isinstance(block, Text) and block.text == ""))


def _without_data(output: Blocks) -> Blocks:
    media = tuple(block for block in output if isinstance(block, Data))
    if not media:
        return output
    note = (
        f"[tool result omitted {len(media)} data block(s), "
        f"approximately {visible_bytes(media)} bytes; the authoritative result remains unchanged]"
    )
    return (*(block for block in output if not isinstance(block, Data)), text_block(note))


def _json_cut(text: bytes, limit_tokens: int) -> str | None:
    """The text cut as JSON; None where it is none."""
    return cut_json(text.decode(), lambda cut: tokens_of_bytes(len(cut.encode())) <= limit_tokens)


def _cut(text: bytes, original_tokens: int, limit_tokens: int) -> str:
    limit_bytes = limit_tokens * BYTES_PER_TOKEN
    marker = (
        f"\n...[tool result truncated; original\N{ALMOST EQUAL TO}{original_tokens} tokens; "
        f"projected={limit_tokens}; "
        "continue with read/grep using narrower offset or query]...\n"
    ).encode()
    if len(marker) >= limit_bytes:
        return prefix_within(marker, limit_bytes).decode()
    content = limit_bytes - len(marker)
    head = content * HEAD_PERCENT // 100
    parts = (prefix_within(text, head), marker, suffix_within(text, content - head))
    return b"".join(parts).decode()
