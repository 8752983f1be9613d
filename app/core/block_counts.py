"""The size of every block of a message by itself.

Source: docs/semantics/budget.md#counters.
"""

from dataclasses import dataclass

from app.core.blocks import Block, Blocks
from app.core.content import decode_content
from app.core.counting import TokenCounter, tokens_of_bytes
from app.core.facts import Form, form_of

_BRACKETS_BYTES = 2
"""Of the array around a single block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCount:
    """The size of one block; artifacts do not count."""

    type: str
    size_bytes: int
    tokenizer_tokens: int

    @property
    def json_tokens(self) -> int:
        """A quarter of the bytes, rounded up."""
        return tokens_of_bytes(self.size_bytes)


def block_counts(blocks: Blocks, counter: TokenCounter) -> tuple[BlockCount, ...]:
    """The size of each block; their tokens add up to those of the message."""
    return tuple(_count(block, form_of("user", (block,), counter)) for block in blocks)


def form_block_counts(form: Form, counter: TokenCounter) -> tuple[BlockCount, ...]:
    """The size of each block of a form whose tokens `counter` has counted."""
    blocks = decode_content(form.content)
    if len(blocks) == 1:
        return (_count(blocks[0], form),)
    return block_counts(blocks, counter)


def _count(block: Block, alone: Form) -> BlockCount:
    return BlockCount(
        type=block.type,
        size_bytes=alone.facts.json_bytes - _BRACKETS_BYTES,
        tokenizer_tokens=alone.facts.tokenizer_tokens,
    )
