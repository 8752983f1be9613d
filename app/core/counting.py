"""What is counted, and by whom.

`json_bytes` is the policy's own estimate: JSON bytes divided by four.
`tokenizer` counts the strings that a model sees, each encoded alone, with
no overhead for roles or separators.

Source: docs/semantics/budget.md#counters.
"""

from collections.abc import Iterator
from typing import Protocol

from app.core import canonical
from app.core.blocks import (
    Block,
    Blocks,
    Data,
    ProviderOpaque,
    ProviderState,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.content import state_json

BYTES_PER_TOKEN = 4
"""OpenWork's and Codex's rule of thumb; it is the unit of every limit of preset `openwork`."""

MEDIA_TOKENS = 1_600
"""Charged for a data block by the tokenizer count, whatever its base64 length."""


class TokenCounter(Protocol):
    """Counts the tokens of a text; equal texts give equal counts."""

    @property
    def basis(self) -> str:
        """The counter's name and version, kept beside every stored count."""

    def count(self, text: str) -> int:
        """Tokens of `text`; never raises, whatever the text holds."""


def tokens_of_bytes(size_bytes: int) -> int:
    """Tokens of a number of bytes: a quarter, rounded up."""
    return (size_bytes + BYTES_PER_TOKEN - 1) // BYTES_PER_TOKEN


def count_blocks(blocks: Blocks, counter: TokenCounter) -> int:
    """Tokens of all that a model sees of `blocks`."""
    return sum(map(counter.count, visible_strings(blocks))) + MEDIA_TOKENS * media_count(blocks)


def media_count(blocks: Blocks) -> int:
    """Data blocks in `blocks`, those inside tool results included."""
    return sum(
        media_count(block.output) if isinstance(block, ToolResult) else isinstance(block, Data)
        for block in blocks
    )


def visible_strings(blocks: Blocks) -> Iterator[str]:
    """The strings that a model sees of `blocks`, in order, media left out."""
    for block in blocks:
        yield from _strings(block)


def _strings(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield block.text
            yield from _state_strings(block.provider_state)
        case Thinking():
            yield block.thinking
            yield from _state_strings(block.provider_state)
        case ToolCall():
            yield block.name
            yield block.input
            yield from _state_strings(block.provider_state)
        case ToolResult():
            yield from visible_strings(block.output)
        case ProviderOpaque():
            yield canonical.encode(block.payload).decode()
        case Data():
            return


def _state_strings(state: ProviderState | None) -> Iterator[str]:
    if state is not None:
        yield canonical.encode(state_json(state)).decode()
