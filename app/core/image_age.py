"""Old images give way to a line, where a policy says how many a request may carry.

Providers refuse a request with more images than they take, and a session
that has met this limit once would meet it at every call.

Source: docs/semantics/request-copy.md#images.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.core.blocks import Block, Blocks, Data, FileIdSource, ToolResult, text_block
from app.core.content import decode_content
from app.core.facts import form_of
from app.core.items import Item, message_id
from app.core.request_copy import Repair, RequestCopy, Rewrite, StepContext
from app.core.user_requests import is_user_request

_IMAGE = "image/"


def age_images(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with so many images at most; the oldest are lines, and each such message is told.

    Images of the last user request, and behind it, stay.
    """
    most = context.shaping.max_images
    if most is None or not any(item.facts.has_data for item in copy.items):
        return copy
    counts = [_count(item) for item in copy.items]
    asked = [index for index, item in enumerate(copy.items) if is_user_request(item)]
    old = sum(counts[: asked[-1]]) if asked else 0
    left = min(old, aged(sum(counts), most))
    rewrites: dict[int, Rewrite] = {}
    repairs: list[Repair] = []
    for index, count in enumerate(counts):
        if not left:
            break
        if count:
            gone = min(count, left)
            left -= gone
            item = copy.items[index]
            rewrites[index] = _rewritten(item, gone, context)
            where = copy.origin(index)
            named = message_id(item)
            repairs.append(Repair(code="image_aged_out", item_index=where, message_id=named))
    if not rewrites:
        return copy
    rewritten = copy.with_rewrites(rewrites)
    return replace(rewritten, repairs=(*rewritten.repairs, *repairs))


def aged(count: int, most: int) -> int:
    """How many of `count` images are lines: none up to `most`, then in steps of half of it.

    Steps keep the cached prefix of a request: between two of them no line is added.

    >>> [aged(count, 4) for count in (4, 5, 6, 7)]
    [0, 2, 2, 4]
    """
    step = max(1, most // 2)
    over = max(0, count - most)
    return -(-over // step) * step


def _count(item: Item) -> int:
    return sum(1 for _ in _images(decode_content(item.content))) if item.facts.has_data else 0


def _images(blocks: Sequence[Block]) -> Iterator[Data]:
    for block in blocks:
        if isinstance(block, Data) and _is_image(block):
            yield block
        elif isinstance(block, ToolResult):
            yield from _images(block.output)


def _is_image(data: Data) -> bool:
    source = data.source
    return not isinstance(source, FileIdSource) and source.media_type.startswith(_IMAGE)


def _rewritten(item: Item, gone: int, context: StepContext) -> Rewrite:
    key = ("image_age", item.facts.element_sha256, context.counter.basis, gone, message_id(item))
    known = context.memo.get(key)
    if known is None:
        ager = _Ager(left=gone, named=message_id(item))
        blocks = ager.blocks(decode_content(item.content))
        known = Rewrite(form=form_of(item.role, blocks, context.counter))
        context.memo[key] = known
    return known


@dataclass(slots=True, kw_only=True)
class _Ager:
    """Replaces the first images of a message."""

    left: int
    named: str | None

    def blocks(self, blocks: Blocks) -> Blocks:
        """The blocks with lines for as many images as are left to replace."""
        return tuple(self._block(block) for block in blocks)

    def _block(self, block: Block) -> Block:
        if isinstance(block, ToolResult):
            return replace(block, output=self.blocks(block.output))
        if not self.left or not isinstance(block, Data) or not _is_image(block):
            return block
        self.left -= 1
        return text_block(image_line(block, self.named))


def image_line(data: Data, named: str | None) -> str:
    """What stands for an image, and where it still is.

    >>> from app.core.blocks import UrlSource
    >>> source = UrlSource(source_type="url", url="https://a.test/b", media_type="image/png")
    >>> image_line(Data(type="data", source=source, name="b.png"), "m7")
    '[older image left out: image/png, b.png; it is in message m7]'
    """
    sort = "file" if isinstance(data.source, FileIdSource) else data.source.media_type
    label = sort if data.name is None else f"{sort}, {data.name}"
    where = "" if named is None else f"; it is in message {named}"
    return f"[older image left out: {label}{where}]"
