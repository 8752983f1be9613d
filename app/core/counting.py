"""What is counted, and by whom.

`json_bytes` is the policy's own estimate: JSON bytes divided by four.
`tokenizer` counts the strings that a model sees, each encoded alone, with
no overhead for roles or separators, and media by its size.

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
from app.core.media import MediaRule, media_tokens

BYTES_PER_TOKEN = 4
"""OpenWork's and Codex's rule of thumb; it is the unit of every limit of preset `openwork`."""

_MEDIA_BASIS = ", media"
"""Where the part of a basis begins that speaks of media alone."""


class TokenCounter(Protocol):
    """Counts the tokens of texts and media; equal things give equal counts."""

    @property
    def basis(self) -> str:
        """The counter's name and version, kept beside every stored count."""

    @property
    def media_rule(self) -> MediaRule:
        """The rule by which media is counted."""

    def count(self, text: str) -> int:
        """Tokens of `text`; never raises, whatever the text holds."""


def tokens_of_bytes(size_bytes: int) -> int:
    """Tokens of a number of bytes: a quarter, rounded up."""
    return (size_bytes + BYTES_PER_TOKEN - 1) // BYTES_PER_TOKEN


def count_blocks(blocks: Blocks, counter: TokenCounter) -> int:
    """Tokens of all that a model sees of `blocks`."""
    text = sum(map(counter.count, visible_strings(blocks)))
    return text + sum(media_tokens(block, counter.media_rule) for block in _media(blocks))


def text_basis(basis: str) -> str:
    """The part of a basis on which a count without media rests."""
    return basis.partition(_MEDIA_BASIS)[0]


def media_count(blocks: Blocks) -> int:
    """Data blocks in `blocks`, those inside tool results included."""
    return sum(1 for _ in _media(blocks))


def _media(blocks: Blocks) -> Iterator[Data]:
    for block in blocks:
        match block:
            case Data():
                yield block
            case ToolResult():
                yield from _media(block.output)


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
