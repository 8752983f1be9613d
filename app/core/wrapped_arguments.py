"""Arguments of calls, for whoever reads them as a JSON object.

Source: docs/semantics/encoders.md#arguments.
"""

from dataclasses import replace

from app.core import canonical
from app.core.blocks import Block, ToolCall
from app.core.canonical import Json
from app.core.content import decode_content
from app.core.facts import form_of
from app.core.items import Item, message_id
from app.core.json_text import json_object
from app.core.request_copy import Repair, RequestCopy, Rewrite, StepContext

RAW_KEY = "_raw"
"""Holds arguments that are no object, so that nothing that a model wrote is lost."""


def argument_object(text: str) -> dict[str, Json]:
    """The arguments as an object: what is none is wrapped, and nothing is no argument."""
    if not text.strip():
        return {}
    value = json_object(text)
    return {RAW_KEY: text} if value is None else value


def argument_text(text: str) -> str:
    """The arguments as text of a JSON object: as they were written where they are one.

    >>> argument_text('{"a": 1}'), argument_text(""), argument_text("[1")
    ('{"a": 1}', '{}', '{"_raw":"[1"}')
    """
    if text.strip() and json_object(text) is not None:
        return text
    return canonical.encode(argument_object(text)).decode()


def wrap_arguments(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with arguments that are no object wrapped, where the policy asks for it."""
    if context.shaping.invalid_arguments == "keep":
        return copy
    rewrites: dict[int, Rewrite] = {}
    repairs: list[Repair] = []
    for index, item in enumerate(copy.items):
        if not item.facts.calls:
            continue
        blocks = decode_content(item.content)
        wrapped = tuple(map(_wrapped, blocks))
        if wrapped == blocks:
            continue
        rewrites[index] = _rewrite(item, wrapped, context)
        repairs += [
            Repair(
                code="arguments_wrapped",
                item_index=copy.origin(index),
                message_id=message_id(item),
                call_id=block.id,
            )
            for block, other in zip(blocks, wrapped, strict=True)
            if isinstance(block, ToolCall) and block != other
        ]
    if not rewrites:
        return copy
    rewritten = copy.with_rewrites(rewrites)
    return replace(rewritten, repairs=(*rewritten.repairs, *repairs))


def _wrapped(block: Block) -> Block:
    if not isinstance(block, ToolCall):
        return block
    text = argument_text(block.input)
    return block if text == block.input else replace(block, input=text)


def _rewrite(item: Item, wrapped: tuple[Block, ...], context: StepContext) -> Rewrite:
    key = ("wrapped", item.facts.element_sha256, context.counter.basis)
    known = context.memo.get(key)
    if known is None:
        known = Rewrite(form=form_of(item.role, wrapped, context.counter))
        context.memo[key] = known
    return known
