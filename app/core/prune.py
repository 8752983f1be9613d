"""Prune: old tool results leave a head and a tail, or no more than a marker.

Source: docs/semantics/request-copy.md#prune.
"""

from dataclasses import replace
from typing import Literal, TypeAlias

from app.core.blocks import Block, Blocks, Text, ToolResult, text_block
from app.core.content import decode_content
from app.core.facts import ResultFact, form_of, joined_text, visible_bytes
from app.core.items import Item, is_stored_through
from app.core.json_cut import cut_json
from app.core.pairing import called_names
from app.core.request_copy import PruneCounts, RequestCopy, Rewrite, StepContext
from app.core.shaping import Cut

DEFAULT_PRUNE_CHARS = 8_192
"""Results up to this many code points stay whole (OpenWork's value)."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LARGEST_BYTES = 10**9
"""More than a message may have: no marker is longer than the one that names this size."""

_Treatment: TypeAlias = Literal["leave", "shorten", "clear"]


def prune(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with results at or below the boundary shortened or cleared."""
    through = context.boundary.through_sequence
    if through is None:
        return copy
    names = called_names(copy.items) if context.shaping.tool_retention else {}
    rewrites: dict[int, Rewrite] = {}
    for index, item in enumerate(copy.items):
        if item.role != "tool" or not is_stored_through(item, through):
            continue
        treatments = tuple(
            _treatment(fact, names.get((index, number), fact.name), context)
            for number, fact in enumerate(item.facts.results)
        )
        if any(treatment != "leave" for treatment in treatments):
            rewrites[index] = _rewritten(item, treatments, context)
    return copy.with_rewrites(rewrites)


def safe_name(text: str) -> str:
    """`text` as a file or directory name: other characters become `_`, one each."""
    return "".join(character if character in _SAFE else "_" for character in text)


def _treatment(fact: ResultFact, name: str | None, context: StepContext) -> _Treatment:
    retention = "keep" if name is None else context.shaping.tool_retention.get(name, "keep")
    match retention:
        case "keep":
            return "shorten" if fact.joined_chars > context.prune_tool_result_chars else "leave"
        case "never_clear":
            return "leave"
        case "always_clear":
            return "clear" if _is_clearable(fact, context.boundary.spill_directory) else "leave"


def _is_clearable(fact: ResultFact, directory: str | None) -> bool:
    # A marker must be shorter than what it stands for, and never stand for another marker.
    longest = _cleared(_LARGEST_BYTES, _location(directory, fact.id))
    return fact.state != "running" and fact.visible_bytes > len(longest.encode())


def _rewritten(item: Item, treatments: tuple[_Treatment, ...], context: StepContext) -> Rewrite:
    limit = context.prune_tool_result_chars
    directory = context.boundary.spill_directory
    cut = context.shaping.cut
    about = (item.facts.element_sha256, context.counter.basis, limit, directory)
    key = ("prune", cut, *about, *treatments)
    known = context.memo.get(key)
    if known is not None:
        return known
    remaining = iter(treatments)
    blocks = tuple(
        _treated(block, next(remaining), limit, directory, cut)
        if isinstance(block, ToolResult)
        else block
        for block in decode_content(item.content)
    )
    rewrite = Rewrite(
        form=form_of(item.role, blocks, context.counter),
        pruned=PruneCounts(tool_results=len(treatments) - treatments.count("leave")),
    )
    context.memo[key] = rewrite
    return rewrite


def _treated(
    result: ToolResult,
    treatment: _Treatment,
    limit_chars: int,
    directory: str | None,
    cut: Cut,
) -> Block:
    location = _location(directory, result.id)
    match treatment:
        case "leave":
            return result
        case "shorten":
            text = joined_text(result.output)
            as_json = _json_cut(text, limit_chars, location) if cut == "json" else None
            shortened = as_json or _shortened(text, limit_chars, location)
            return replace(result, output=with_single_text(result.output, shortened))
        case "clear":
            marker = _cleared(visible_bytes(result.output), location)
            return replace(result, output=(text_block(marker),))


def _cleared(size_bytes: int, location: str) -> str:
    return f"[tool result cleared: {size_bytes} bytes omitted{location}]"


def _json_cut(text: str, limit_chars: int, location: str) -> str | None:
    """The text cut as JSON, to as much as a head and a tail would keep; None where it is none."""
    most = limit_chars // 2 + limit_chars // 8
    return cut_json(text, lambda cut: len(cut) <= most, location)


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
