"""Mending: what becomes of calls and results that do not pair, before a request is paired.

By default nothing: `app.core.normalize` answers for every call that has no
result. Awaken leaves such calls out, and goose fixes the whole conversation.
A call that waits is no fault, so both leave it to be answered for.

Source: docs/semantics/request-copy.md#mending.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from app.core.content import decode_content
from app.core.conversation_fix import fix
from app.core.counting import TokenCounter
from app.core.facts import form_of
from app.core.fix_passes import Said
from app.core.items import Item, message_id
from app.core.messages import Synthetic
from app.core.pairing import pair
from app.core.request_copy import Repair, RepairCode, RequestCopy, StepContext
from app.core.tool_rounds import cleaned_rounds
from app.core.trimming import pinned_indexes
from app.core.user_requests import is_user_request

PLACEHOLDER_ID = "placeholder"
"""Of the message that stands where fixing leaves none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mended:
    """An item, and the positions of those that it was made of; none of a placeholder."""

    item: Item
    origins: tuple[int, ...]


def mend(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy without what its policy's rule leaves out; every removal is a repair."""
    rule = context.shaping.pairing
    if rule == "synthesise" or copy.held_through is not None:
        # What a provider holds itself can be neither merged nor taken back.
        return copy
    if rule == "clean":
        mended = _cleaned(copy.items, context.counter)
    else:
        mended = _fixed(copy.items, context)
    items = tuple(each.item for each in mended)
    if items == copy.items:
        return copy
    repairs = sorted(_repairs(copy.items, mended), key=lambda repair: repair.item_index)
    return replace(
        copy,
        items=items,
        origins=tuple(copy.origin(each.origins[0]) if each.origins else 0 for each in mended),
        repairs=(
            *copy.repairs,
            *(replace(each, item_index=copy.origin(each.item_index)) for each in repairs),
        ),
    )


def _cleaned(items: tuple[Item, ...], counter: TokenCounter) -> tuple[_Mended, ...]:
    """The items with every round whole."""
    return tuple(
        _Mended(item=item, origins=(index,))
        for index, item in cleaned_rounds(items, counter, waiting_ids(items))
    )


def _fixed(items: tuple[Item, ...], context: StepContext) -> tuple[_Mended, ...]:
    """The items as goose's passes leave them; where there is none, nothing is put in."""
    if not items:
        return ()
    waiting = waiting_ids(items)
    staying = _staying(items, waiting, context.shaping.context_policy.pinned)
    said = [
        Said(
            role=item.role,
            blocks=decode_content(item.content),
            origins=(index,),
            stays=index in staying,
        )
        for index, item in enumerate(items)
    ]
    fixed = fix(said, waiting).messages
    return tuple(_item(each, items, context.counter) for each in fixed)


def _staying(items: Sequence[Item], waiting: Set[str], pinned: Set[str]) -> set[int]:
    """Indexes of what goes for no order of speakers.

    That is pinned rounds, calls that somebody may still answer, and what
    stands for a fold of the provider's own.
    """
    return pinned_indexes(items, pinned) | {
        index
        for index, item in enumerate(items)
        if _is_fold(item) or any(call.id in waiting for call in item.facts.calls)
    }


def _is_fold(item: Item) -> bool:
    return isinstance(item.source, Synthetic) and item.source.reason == "provider_fold"


def waiting_ids(items: Sequence[Item]) -> frozenset[str]:
    """The ids of calls that somebody may still answer, or that waited before they were."""
    return frozenset(
        slot.call.id for slots in pair(items).slots.values() for slot in slots if slot.is_waiting
    )


def _item(said: Said, items: Sequence[Item], counter: TokenCounter) -> _Mended:
    form = form_of(said.role, said.blocks, counter)
    if not said.origins:
        source = Synthetic(reason="placeholder", id=PLACEHOLDER_ID)
        made = Item(
            role=said.role,
            kind="normal",
            content=form.content,
            facts=form.facts,
            source=source,
            depends_on=max(item.depends_on for item in items),
        )
        return _Mended(item=made, origins=())
    parts = [items[index] for index in said.origins]
    # Of merged messages the last request tells best what the message is.
    chief = next((part for part in reversed(parts) if is_user_request(part)), parts[0])
    if len(parts) == 1 and form.content == chief.content and said.role == chief.role:
        return _Mended(item=chief, origins=said.origins)
    latest = max(part.depends_on for part in parts)
    merged = replace(
        chief, role=said.role, content=form.content, facts=form.facts, depends_on=latest
    )
    return _Mended(item=merged, origins=said.origins)


def _repairs(before: Sequence[Item], after: Sequence[_Mended]) -> Iterator[Repair]:
    """What the mended items have other than the items."""
    left: set[int] = set()
    for mended in after:
        left.update(mended.origins)
        parts = [before[index] for index in mended.origins]
        for number, index in enumerate(mended.origins):
            if number:
                yield _repair("messages_merged", before, index)
        yield from _taken_out(before, mended.origins, mended.item)
        rewritten = len(parts) == 1 and parts[0].content != mended.item.content
        if rewritten and _pairs(parts[0]) == _pairs(mended.item):
            yield _repair("message_fixed", before, mended.origins[0])
    for index in range(len(before)):
        if index not in left:
            gone = list(_taken_out(before, (index,), None))
            yield from gone or [_repair("message_dropped", before, index)]
    if any(not mended.origins for mended in after):
        yield Repair(code="placeholder_added", item_index=0, message_id=None)


def _taken_out(
    before: Sequence[Item], origins: Sequence[int], item: Item | None
) -> Iterator[Repair]:
    """The calls and results of some items that the mended one has no more."""
    calls = [] if item is None else [call.id for call in item.facts.calls]
    results = [] if item is None else [result.id for result in item.facts.results]
    for index in origins:
        for call in before[index].facts.calls:
            if call.id in calls:
                calls.remove(call.id)
            else:
                yield _repair("tool_call_dropped", before, index, call.id)
        for result in before[index].facts.results:
            if result.id in results:
                results.remove(result.id)
            else:
                yield _repair("orphan_tool_result_dropped", before, index, result.id)


def _pairs(item: Item) -> tuple[int, int]:
    return len(item.facts.calls), len(item.facts.results)


def _repair(
    code: RepairCode, before: Sequence[Item], index: int, call_id: str | None = None
) -> Repair:
    return Repair(
        code=code, item_index=index, message_id=message_id(before[index]), call_id=call_id
    )
