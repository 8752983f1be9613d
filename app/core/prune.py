"""Prune: old, long tool results keep a head and a tail.

Source: docs/semantics/request-copy.md#prune.
"""

from dataclasses import replace

from app.core.blocks import Block, Blocks, Text, ToolResult, text_block
from app.core.content import decode_content
from app.core.facts import form_of, joined_text
from app.core.items import Item
from app.core.messages import Real
from app.core.request_copy import RequestCopy, Rewrite, StepContext

DEFAULT_PRUNE_CHARS = 8_192
"""Results up to this many code points stay whole (OpenWork's value)."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def prune(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with long results at or below the boundary shortened."""
    through = context.boundary.through_sequence
    if through is None:
        return copy
    items = list(copy.items)
    pruned = 0
    for index, item in enumerate(items):
        if _is_prunable(item, through, context.prune_tool_result_chars):
            rewrite = _rewritten(item, context)
            items[index] = item.with_form(rewrite.form)
            pruned += rewrite.pruned_tool_results
    if pruned == 0:
        return copy
    return replace(copy, items=tuple(items), pruned_tool_results=copy.pruned_tool_results + pruned)


def safe_name(text: str) -> str:
    """`text` as a file or directory name: other characters become `_`, one each."""
    return "".join(character if character in _SAFE else "_" for character in text)


def _is_prunable(item: Item, through: int, limit_chars: int) -> bool:
    return (
        item.role == "tool"
        and isinstance(item.source, Real)
        and item.source.sequence is not None
        and item.source.sequence <= through
        and any(result.joined_chars > limit_chars for result in item.facts.results)
    )


def _rewritten(item: Item, context: StepContext) -> Rewrite:
    limit = context.prune_tool_result_chars
    directory = context.boundary.spill_directory
    key = ("prune", item.facts.element_sha256, context.counter.basis, limit, directory)
    known = context.memo.get(key)
    if known is not None:
        return known
    blocks = tuple(_pruned_block(block, limit, directory) for block in decode_content(item.content))
    rewrite = Rewrite(
        form=form_of(item.role, blocks, context.counter),
        pruned_tool_results=sum(result.joined_chars > limit for result in item.facts.results),
    )
    context.memo[key] = rewrite
    return rewrite


def _pruned_block(block: Block, limit_chars: int, directory: str | None) -> Block:
    if not isinstance(block, ToolResult):
        return block
    text = joined_text(block.output)
    if len(text) <= limit_chars:
        return block
    shortened = _shortened(text, limit_chars, _location(directory, block.id))
    return replace(block, output=with_single_text(block.output, shortened))


def _shortened(text: str, limit_chars: int, location: str) -> str:
    head, tail = limit_chars // 2, limit_chars // 8
    omitted = len(text) - head - tail
    marker = f"... [tool result pruned: {omitted} characters omitted{location}]"
    return f"{text[:head]}\n{marker}\n{text[len(text) - tail :]}"


def _location(directory: str | None, call_id: str) -> str:
    if directory is None:
        return ""
    path = f"{directory}/{safe_name(call_id)}.txt"
    return f". Full result at {path} \N{EM DASH} read it if you still need it"


def with_single_text(output: Blocks, text: str) -> Blocks:
    """`output` with `text` in its first text block and its other text blocks left out."""
    kept: list[Block] = []
    placed = False
    for block in output:
        if not isinstance(block, Text):
            kept.append(block)
        elif not placed:
            kept.append(text_block(text))
            placed = True
    return tuple(kept)
