"""Repeated results: an old result that an earlier call gave too gives way to that call's name.

It runs before anything is shortened, so that equal means equal as stored.

Source: docs/semantics/request-copy.md#repeated-results.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.core import canonical
from app.core.blocks import Block, ToolResult, text_block
from app.core.content import decode_content, encode_content
from app.core.data_filter import blocks_without_data
from app.core.facts import ResultFact, form_of
from app.core.items import Item, is_stored_through
from app.core.pairing import pair
from app.core.request_copy import PruneCounts, RequestCopy, Rewrite, StepContext

REPEATED_BYTES = 1_024
"""Results below this stay: a reference would save next to nothing."""

_MARKERS = (b"[tool result ", b" truncated\xe2\x80\xa6", b"[omitted ")
"""Of every way to shorten a result. What is left of two results may be equal although the results
were not, so one with a marker is neither a repetition nor repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A final result behind the boundary that answers a call."""

    item_index: int
    result_index: int
    tool: str
    fact: ResultFact

    @property
    def outline(self) -> tuple[object, ...]:
        """What equal results have in common as far as their facts tell."""
        return (self.tool, self.fact.state, self.fact.joined_chars)


def refer_repeated(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with a reference in place of every repeated result at or below the boundary."""
    through = context.boundary.through_sequence
    if through is None or context.shaping.repeated_results == "keep":
        return copy
    rewrites: dict[int, Rewrite] = {}
    for index, references in _references(copy.items, through, context).items():
        rewrites[index] = _rewritten(copy.items[index], references, context)
    return copy.with_rewrites(rewrites)


def _references(
    items: Sequence[Item], through: int, context: StepContext
) -> Mapping[int, Mapping[int, str]]:
    """The text of every reference, by index of the item and of the result in it."""
    candidates = tuple(_candidates(items, through, context))
    outlines = Counter(candidate.outline for candidate in candidates)
    first: dict[tuple[str, bytes], _Candidate] = {}
    references: dict[int, dict[int, str]] = {}
    for candidate in candidates:
        if outlines[candidate.outline] == 1:
            continue
        said = _said(items[candidate.item_index], candidate.result_index, context)
        if any(marker in said for marker in _MARKERS):
            continue
        repeated = first.setdefault((candidate.tool, said), candidate)
        reference = _reference(repeated.fact.id)
        if repeated is not candidate and len(reference.encode()) < candidate.fact.visible_bytes:
            references.setdefault(candidate.item_index, {})[candidate.result_index] = reference
    return references


def _reference(call_id: str) -> str:
    return f"[tool result repeated: the same as that of the earlier call {call_id}]"


def _candidates(items: Sequence[Item], through: int, context: StepContext) -> Iterator[_Candidate]:
    """In the order of the calls, which is the order of the results in the request."""
    retention = context.shaping.tool_retention
    for slot in (slot for group in pair(items).slots.values() for slot in group):
        answer, tool = slot.answer(), slot.call.name
        if answer is None or not answer.is_final or retention.get(tool, "keep") != "keep":
            continue
        item = items[answer.item_index]
        fact = item.facts.results[answer.result_index]
        if fact.visible_bytes >= REPEATED_BYTES and is_stored_through(item, through):
            yield _Candidate(
                item_index=answer.item_index,
                result_index=answer.result_index,
                tool=tool,
                fact=fact,
            )


def _said(item: Item, result_index: int, context: StepContext) -> bytes:
    """The canonical bytes of a result behind its id and name, media less where none is sent."""
    fact = item.facts.results[result_index]
    is_sent_as_stored = context.accepts_data_blocks or not item.facts.has_data
    head = _head(fact.id, fact.name)
    if is_sent_as_stored and len(item.facts.results) == 1 and item.content.startswith(head):
        return item.content[len(head) :]
    results = [block for block in decode_content(item.content) if isinstance(block, ToolResult)]
    result = results[result_index]
    if not is_sent_as_stored:
        result = replace(result, output=blocks_without_data(result.output))
    return encode_content((result,))[len(head) :]


def _head(call_id: str, name: str | None) -> bytes:
    parts = (canonical.encode(call_id), canonical.encode(name))
    return b'[{"type":"tool_result","id":%b,"name":%b,' % parts


def _rewritten(item: Item, references: Mapping[int, str], context: StepContext) -> Rewrite:
    told = tuple(part for number, text in sorted(references.items()) for part in (number, text))
    key = ("repeated", item.facts.element_sha256, context.counter.basis, *told)
    known = context.memo.get(key)
    if known is not None:
        return known
    blocks: list[Block] = []
    number = 0
    for block in decode_content(item.content):
        if isinstance(block, ToolResult):
            text = references.get(number)
            number += 1
            if text is not None:
                block = replace(block, output=(text_block(text),))
        blocks.append(block)
    rewrite = Rewrite(
        form=form_of(item.role, tuple(blocks), context.counter),
        pruned=PruneCounts(references=len(references)),
    )
    context.memo[key] = rewrite
    return rewrite
