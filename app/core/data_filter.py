"""Media is left out where the model takes none.

A user request with media is refused instead: what somebody asked about
must not vanish silently.

Source: docs/semantics/request-copy.md#data-filter.
"""

from collections.abc import Set
from dataclasses import replace

from app.core.blocks import Blocks, Data, FileIdSource, ToolResult, text_block
from app.core.content import decode_content
from app.core.errors import UnsupportedUserData
from app.core.facts import form_of
from app.core.items import Item, message_id
from app.core.request_copy import Repair, Rewrite, StepContext


def without_data_blocks(
    items: tuple[Item, ...], answers: Set[int], context: StepContext
) -> tuple[tuple[Item, ...], tuple[Repair, ...]]:
    """The items without media, and a repair for each that lost some.

    Args:
        items: The conversation, in order.
        answers: Indexes of the tool items that are sent; the others are
            dropped as they are.
        context: Whether the model takes media.

    Raises:
        UnsupportedUserData: Media stands in a user message of kind `normal`.
    """
    if context.accepts_data_blocks or not any(item.facts.has_data for item in items):
        return items, ()
    kept = list(items)
    repairs: list[Repair] = []
    for index, item in enumerate(items):
        if not item.facts.has_data or (item.role == "tool" and index not in answers):
            continue
        if context.shaping.unsupported_data == "refuse":
            refuse_user_data(item, index)
        kept[index] = item.with_form(_filtered(item, context).form)
        repairs.append(
            Repair(code="data_block_filtered", item_index=index, message_id=message_id(item))
        )
    return tuple(kept), tuple(repairs)


def refuse_user_data(item: Item, index: int) -> None:
    """Refuse media in real user input.

    Raises:
        UnsupportedUserData: The item is user input and holds media.
    """
    if item.role == "user" and item.kind == "normal" and item.facts.has_data:
        raise UnsupportedUserData(
            f"model does not accept data blocks in real user input (item {index})",
            item_index=index,
            message_id=message_id(item),
        )


def _filtered(item: Item, context: StepContext) -> Rewrite:
    rule = context.shaping.unsupported_data
    key = ("data_filter", rule, item.facts.element_sha256, context.counter.basis)
    known = context.memo.get(key)
    if known is not None:
        return known
    blocks = decode_content(item.content)
    told = blocks_with_lines(blocks) if rule == "placeholder" else blocks_without_data(blocks)
    rewrite = Rewrite(form=form_of(item.role, told, context.counter))
    context.memo[key] = rewrite
    return rewrite


def blocks_without_data(blocks: Blocks) -> Blocks:
    """The blocks less all media, that inside tool results included."""
    return tuple(
        replace(block, output=blocks_without_data(block.output))
        if isinstance(block, ToolResult)
        else block
        for block in blocks
        if not isinstance(block, Data)
    )


def blocks_with_lines(blocks: Blocks) -> Blocks:
    """The blocks with a line for each medium, that inside tool results included."""
    return tuple(
        replace(block, output=blocks_with_lines(block.output))
        if isinstance(block, ToolResult)
        else text_block(data_line(block))
        if isinstance(block, Data)
        else block
        for block in blocks
    )


def data_line(data: Data) -> str:
    """What stands for a medium that the model does not take.

    >>> from app.core.blocks import UrlSource
    >>> source = UrlSource(source_type="url", url="https://a.test/b", media_type="image/png")
    >>> data_line(Data(type="data", source=source, name="b.png"))
    '[media left out: image/png, b.png]'
    """
    sort = "file" if isinstance(data.source, FileIdSource) else data.source.media_type
    return f"[media left out: {sort if data.name is None else f'{sort}, {data.name}'}]"
