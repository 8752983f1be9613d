"""Truncation: a tool's output loses its middle, the way Codex CLI cuts it.

A limit counts bytes, or tokens of four bytes. The marker that stands for the
middle is not charged, so a cut text may be longer than its limit.

Source: docs/semantics/codex.md#truncation.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.core.blocks import Block, Blocks, Text, text_block
from app.core.counting import BYTES_PER_TOKEN, tokens_of_bytes
from app.core.text import prefix_within, suffix_within

TruncationMode: TypeAlias = Literal["bytes", "tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """How much of a text is kept, in bytes or in tokens; never less than nothing."""

    mode: TruncationMode
    limit: int

    @property
    def budget_bytes(self) -> int:
        """The same limit in bytes."""
        return self.limit if self.mode == "bytes" else self.limit * BYTES_PER_TOKEN

    def holds(self, text: str) -> bool:
        """Whether a text is within the limit."""
        return len(text.encode()) <= self.budget_bytes

    @property
    def on_record(self) -> "Truncation":
        """The wider limit at which an output is cut when it enters the history."""
        return replace(self, limit=record_budget(self.limit))

    def cost(self, text: str) -> int:
        """What a text takes of the limit."""
        size = len(text.encode())
        return size if self.mode == "bytes" else tokens_of_bytes(size)


def record_budget(limit: int) -> int:
    """A limit and a fifth, rounded up."""
    return -(-limit * 6 // 5)


def tool_limit_override(mode: TruncationMode, limit_tokens: int) -> Truncation:
    """The truncation of a limit that a policy gives in tokens, in the model's own mode."""
    limit = limit_tokens * BYTES_PER_TOKEN if mode == "bytes" else limit_tokens
    return Truncation(mode=mode, limit=limit)


def truncate(text: str, truncation: Truncation) -> str:
    """The text, or its head and its tail around a marker.

    >>> truncate("example output", Truncation(mode="tokens", limit=1))
    'ex…3 tokens truncated…ut'
    """
    if truncation.holds(text):
        return text
    encoded, budget = text.encode(), truncation.budget_bytes
    head = prefix_within(encoded, budget // 2).decode()
    tail = suffix_within(encoded, budget - budget // 2).decode()
    if truncation.mode == "tokens":
        # The number follows from the limit, whatever the cut leaves of a character.
        return f"{head}…{tokens_of_bytes(len(encoded) - budget)} tokens truncated…{tail}"
    return f"{head}…{len(text) - len(head) - len(tail)} chars truncated…{tail}"


def formatted_truncate(text: str, truncation: Truncation) -> str:
    """The text, or its cut form under a warning that tells its tokens and lines."""
    if truncation.holds(text):
        return text
    return (
        f"Warning: truncated output (original token count: {tokens_of_bytes(len(text.encode()))})\n"
        f"Total output lines: {_line_count(text)}\n\n{truncate(text, truncation)}"
    )


def truncate_items(output: Blocks, truncation: Truncation) -> Blocks:
    """The blocks of an output that share one limit in order; what is no text passes.

    The first text that does not fit is cut, those behind it are left out, and
    a last text tells how many.
    """
    kept: list[Block] = []
    remaining = truncation.limit
    omitted = 0
    for block in output:
        if not isinstance(block, Text):
            kept.append(block)
        elif remaining == 0:
            omitted += 1
        else:
            left = replace(truncation, limit=remaining)
            cost = left.cost(block.text)
            kept.append(block if cost <= remaining else text_block(truncate(block.text, left)))
            remaining = max(0, remaining - cost)
    if omitted:
        kept.append(text_block(f"[omitted {omitted} text items ...]"))
    return tuple(kept)


def _line_count(text: str) -> int:
    """Lines of a text that is not empty; a line end at its very end adds none."""
    return text.count("\n") + (not text.endswith("\n"))
