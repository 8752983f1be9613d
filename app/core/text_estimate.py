"""A conversation's tokens by its texts alone: bytes divided by four, rounded down once.

Source: docs/semantics/awaken.md#the-estimate.
"""

from collections.abc import Iterable

from app.core.blocks import Text
from app.core.content import decode_content
from app.core.counting import BYTES_PER_TOKEN
from app.core.items import Item


def text_tokens(items: Iterable[Item]) -> int:
    """A quarter of the UTF-8 bytes of all text blocks of the messages, rounded down at the end.

    Calls, results, media and thinking count nothing, so a conversation that
    is mostly tools may be much larger than this says.
    """
    return sum(text_bytes(item) for item in items) // BYTES_PER_TOKEN


def text_bytes(item: Item) -> int:
    """UTF-8 bytes of a message's own text blocks."""
    known = item.facts.text_bytes
    if known is not None:
        return known
    blocks = decode_content(item.content)
    return sum(len(block.text.encode()) for block in blocks if isinstance(block, Text))
