"""Estimates: sizes of texts, content, messages and tools by every counter.

Source: docs/semantics/budget.md#counters.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.core.agent import Tool
from app.core.block_counts import BlockCount, form_block_counts
from app.core.blocks import Blocks
from app.core.budget import array_bytes
from app.core.counting import TokenCounter, tokens_of_bytes
from app.core.facts import form_of
from app.core.model_profile import ModelProfile
from app.core.tool_surface import tool_bytes
from app.services.resources import counter_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What to measure; exactly one of the fields is not None."""

    text: str | None
    contents: Sequence[Blocks] | None
    tools: Sequence[Tool] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The size of one thing by every counter."""

    size_bytes: int
    tokenizer_tokens: int
    blocks: tuple[BlockCount, ...] = ()
    """Of a content array, each by itself."""

    @property
    def json_tokens(self) -> int:
        """A quarter of the bytes, rounded up."""
        return tokens_of_bytes(self.size_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """The sizes of several things. The total is measured as one region: one rounding."""

    items: tuple[Estimate, ...]
    total: Estimate
    basis: str


async def estimate_given(subject: Subject, profile: ModelProfile) -> Estimates:
    """The sizes of a subject as it is: nothing is pruned, projected or repaired."""
    return await asyncio.to_thread(_estimates, subject, counter_of(profile))


def _estimates(subject: Subject, counter: TokenCounter) -> Estimates:
    if subject.tools is not None:
        items = [_text_estimate(tool_bytes(tool).decode(), counter) for tool in subject.tools]
        size = array_bytes([item.size_bytes for item in items])
    elif subject.contents is not None:
        items = [_content_estimate(blocks, counter) for blocks in subject.contents]
        size = sum(item.size_bytes for item in items)
    else:
        items = [_text_estimate(subject.text or "", counter)]
        size = items[0].size_bytes
    tokens = sum(item.tokenizer_tokens for item in items)
    return Estimates(
        items=tuple(items),
        total=Estimate(size_bytes=size, tokenizer_tokens=tokens),
        basis=counter.basis,
    )


def _content_estimate(blocks: Blocks, counter: TokenCounter) -> Estimate:
    # The role is no part of what is measured, so any will do.
    form = form_of("user", blocks, counter)
    return Estimate(
        size_bytes=form.facts.json_bytes,
        tokenizer_tokens=form.facts.tokenizer_tokens,
        blocks=form_block_counts(form, counter),
    )


def _text_estimate(text: str, counter: TokenCounter) -> Estimate:
    return Estimate(size_bytes=len(text.encode()), tokenizer_tokens=counter.count(text))
