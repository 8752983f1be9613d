"""Normalize: every call has exactly one result, right behind it, in call order.

It runs last, so that no later step can separate a call from its result.

Source: docs/semantics/request-copy.md#normalize.
"""

from dataclasses import replace
from uuid import UUID, uuid5

from app.core.blocks import ToolResult, text_block
from app.core.content import decode_content
from app.core.data_filter import without_data_blocks
from app.core.facts import form_of
from app.core.items import Item, message_id
from app.core.messages import Synthetic
from app.core.pairing import Dropped, Offer, Slot, pair
from app.core.request_copy import Repair, RepairCode, RequestCopy, Rewrite, StepContext

INTERRUPTED_TEXT = (
    "Tool result unavailable: the previous turn ended before a durable result was recorded."
)
WAITING_TEXT = "Tool result not available yet: the call is still running."

_NAMESPACE = UUID("6f1b2c7e-6f0f-5b5d-9a3b-2f6f1c1a7d10")
"""Of synthetic ids. Another value would change ids that clients have seen."""


def normalize(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy well paired, and without media where the model takes none.

    Raises:
        UnsupportedUserData: A user request holds media that the model refuses.
    """
    pairing = pair(copy.items)
    items, filtered = without_data_blocks(copy.items, pairing.taken, context)
    repairs = list(filtered)
    repairs += [
        Repair(
            code=_code(left, context),
            item_index=left.item_index,
            message_id=message_id(items[left.item_index]),
            call_id=left.call_id,
        )
        for left in pairing.dropped
    ]
    paired: list[Item] = []
    for index, item in enumerate(items):
        if item.role == "tool":
            continue
        paired.append(item)
        for number, slot in enumerate(pairing.slots.get(index, ())):
            answer = slot.answer()
            if answer is None:
                paired.append(_synthesised(item, index, number, slot, context))
                repairs.append(_synthesis(item, index, slot))
            else:
                paired.append(_taken(items[answer.item_index], answer, slot, context))
    if not repairs and tuple(paired) == copy.items:
        return copy
    repairs.sort(key=lambda repair: repair.item_index)
    told = (replace(repair, item_index=copy.origin(repair.item_index)) for repair in repairs)
    # Made results stand nowhere in the conversation, so positions end here.
    return replace(copy, items=tuple(paired), origins=None, repairs=(*copy.repairs, *told))


def _code(left: Dropped, context: StepContext) -> RepairCode:
    # A stored result had a call when it was appended, so one without a call here was hidden.
    is_hidden = context.is_partial and not left.has_call
    return "result_of_summarised_call" if is_hidden else left.code


def _taken(item: Item, answer: Offer, slot: Slot, context: StepContext) -> Item:
    """The result of `answer` alone in a message, named like its call."""
    name = slot.call.name
    if len(item.facts.results) == 1 and item.facts.results[0].name == name:
        return item
    key = (
        "pick",
        item.facts.element_sha256,
        context.counter.basis,
        answer.result_index,
        name,
    )
    rewrite = context.memo.get(key)
    if rewrite is None:
        results = [block for block in decode_content(item.content) if isinstance(block, ToolResult)]
        result = replace(results[answer.result_index], name=name)
        rewrite = Rewrite(form=form_of("tool", (result,), context.counter))
        context.memo[key] = rewrite
    return item.with_form(rewrite.form)


def _synthesised(item: Item, index: int, number: int, slot: Slot, context: StepContext) -> Item:
    key = ("synthesised", slot.call.id, slot.call.name, slot.call.state, context.counter.basis)
    rewrite = context.memo.get(key)
    if rewrite is None:
        rewrite = Rewrite(form=form_of("tool", (_missing_result(slot),), context.counter))
        context.memo[key] = rewrite
    return Item(
        role="tool",
        kind="normal",
        content=rewrite.form.content,
        facts=rewrite.form.facts,
        source=Synthetic(
            reason="interrupted_tool_result",
            id=_synthetic_id(context.scope, message_id(item) or f"#{index}", number, slot),
        ),
        depends_on=item.depends_on,
    )


def _missing_result(slot: Slot) -> ToolResult:
    waiting = slot.is_waiting
    return ToolResult(
        type="tool_result",
        id=slot.call.id,
        name=slot.call.name,
        output=(text_block(WAITING_TEXT if waiting else INTERRUPTED_TEXT),),
        state="running" if waiting else "interrupted",
    )


def _synthetic_id(scope: str, source: str, number: int, slot: Slot) -> str:
    # The call's position separates two calls that share an id in one message.
    return str(uuid5(_NAMESPACE, f"{scope}/{source}/{slot.call.id}/{number}"))


def _synthesis(item: Item, index: int, slot: Slot) -> Repair:
    return Repair(
        code="tool_result_synthesised",
        item_index=index,
        message_id=message_id(item),
        call_id=slot.call.id,
    )
