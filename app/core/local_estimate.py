"""Codex CLI's estimate of what the provider has not counted yet.

An item is its content's JSON bytes divided by four, in which an inline image
has a fixed size and encrypted reasoning a part of its length. Only items
with media or a provider's state are parsed for that.

Source: docs/semantics/codex.md#the-local-estimate.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.core import canonical
from app.core.blocks import (
    Base64Source,
    Block,
    Blocks,
    Data,
    DataSource,
    ProviderOpaque,
    Thinking,
    ToolResult,
    UrlSource,
)
from app.core.content import block_json, decode_content
from app.core.counting import tokens_of_bytes
from app.core.items import Item
from app.core.limits import Phase
from app.core.messages import Synthetic

IMAGE_BYTES = 7_373
"""What Codex charges for an inline image, whatever its size: about 1 844 tokens."""

REASONING_OVERHEAD_BYTES = 650
"""What Codex takes off decoded reasoning, for the provider's own envelope around it."""

PATCH_PIXELS = 32
MOST_PATCHES = 10_000
"""An image in full detail is counted in squares of 32 pixels, up to so many."""

_PROVIDER_MARKS = (b'"provider_state":', b'"type":"provider_opaque"')


def approx_tokens(size_bytes: int) -> int:
    """Tokens of a number of bytes, a quarter rounded up; none below one byte."""
    return tokens_of_bytes(max(0, size_bytes))


def reasoning_tokens(encoded_chars: int) -> int:
    """Tokens of encrypted reasoning whose base64 text has so many characters."""
    return approx_tokens(_reasoning_bytes(encoded_chars))


def encrypted_output_bytes(encoded_chars: int) -> int:
    """Bytes of an encrypted tool output: nine sixteenths of its length, rounded up."""
    return -(-encoded_chars * 9 // 16)


def original_image_tokens(width: int, height: int) -> int:
    """Tokens of an image in full detail, by its pixels."""
    return min(-(-width // PATCH_PIXELS) * -(-height // PATCH_PIXELS), MOST_PATCHES)


def item_tokens(item: Item) -> int:
    """The estimate of one item."""
    size = item.facts.json_bytes
    if item.facts.has_data or any(mark in item.content for mark in _PROVIDER_MARKS):
        size += sum(map(_adjustment, decode_content(item.content)))
    return approx_tokens(size)


def adjustment_tokens(items: Sequence[Item]) -> int:
    """What the estimates of items add to their JSON bytes / 4; less than 0 with inline images."""
    return sum(item_tokens(item) - tokens_of_bytes(item.facts.json_bytes) for item in items)


def trailing_tokens(items: Sequence[Item], phase: Phase) -> int:
    """The estimate of all that stands behind the model's last message; 0 without one.

    The provider's last total holds everything before it. A result that stands in for one that is
    not there yet is not measured.
    """
    last = max((i for i, item in enumerate(items) if item.role == "assistant"), default=None)
    if last is None:
        return 0
    return sum(
        item_tokens(item)
        for item in items[last + 1 :]
        if (phase == "mid_turn" or item.role != "user") and not _is_made(item)
    )


def old_reasoning_tokens(items: Sequence[Item], boundary: int | None) -> int:
    """The estimate of encrypted reasoning before the last user request.

    Reasoning behind it is in the provider's last total.

    Args:
        items: The conversation, in order.
        boundary: The index of the last user request; None without one, where
            no reasoning is old.
    """
    return sum(
        reasoning_tokens(length)
        for item in items[: boundary or 0]
        if any(mark in item.content for mark in _PROVIDER_MARKS)
        for length in _encrypted_lengths(decode_content(item.content))
    )


def _is_made(item: Item) -> bool:
    source = item.source
    return isinstance(source, Synthetic) and source.reason == "interrupted_tool_result"


def _reasoning_bytes(encoded_chars: int) -> int:
    return max(0, encoded_chars * 3 // 4 - REASONING_OVERHEAD_BYTES)


def _adjustment(block: Block) -> int:
    """Bytes by which the estimate of a block differs from its JSON."""
    match block:
        case Data(source=source):
            payload = _inline_image(source)
            return 0 if payload is None else IMAGE_BYTES - _json_bytes(payload)
        case ToolResult(output=output):
            return sum(map(_adjustment, output))
        case _:
            encrypted = _encrypted_content(block)
            if encrypted is None:
                return 0
            size = len(canonical.encode(block_json(block)))
            return _reasoning_bytes(len(encrypted)) - size


def _inline_image(source: DataSource) -> str | None:
    """The base64 text of an image that is in the message itself."""
    match source:
        case Base64Source(data=data, media_type=media_type):
            return data if _is_image(media_type) else None
        case UrlSource(url=url):
            return _payload_of_data_url(url)
        case _:
            return None


def _payload_of_data_url(url: str) -> str | None:
    if url[:5].lower() != "data:":
        return None
    head, comma, payload = url[5:].partition(",")
    media_type, *parameters = head.split(";")
    is_base64 = any(parameter.lower() == "base64" for parameter in parameters)
    return payload if comma and is_base64 and _is_image(media_type) else None


def _is_image(media_type: str) -> bool:
    return media_type[:6].lower() == "image/"


def _json_bytes(text: str) -> int:
    """Bytes of a text inside its quotation marks."""
    return len(canonical.encode(text)) - 2


def _encrypted_lengths(blocks: Blocks) -> Iterator[int]:
    for block in blocks:
        encrypted = _encrypted_content(block)
        if encrypted is not None:
            yield len(encrypted)


def _encrypted_content(block: Block) -> str | None:
    """The encrypted text of reasoning; None where a block has none."""
    match block:
        case Thinking(provider_state=state) if state is not None:
            return _encrypted_field(state.data)
        case ProviderOpaque(payload=payload):
            return _encrypted_field(payload)
        case _:
            return None


def _encrypted_field(value: object) -> str | None:
    text = value.get("encrypted_content") if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else None
