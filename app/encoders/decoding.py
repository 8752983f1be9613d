"""Decodings: what a provider answered, as the blocks of an assistant message.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from app.core.blocks import Blocks
from app.core.errors import ContextError
from app.encoders.encoding import EncodingRepair


class InvalidAnswer(ContextError):
    """A body is no answer of the provider that it is said to come from."""

    code = "invalid_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """An answer of a provider."""

    blocks: Blocks
    """Of one assistant message, in the order of the answer."""
    model: str | None
    """As the provider names it."""
    finish_reason: str | None
    """In the provider's own word."""
    usage: Mapping[str, object] | None
    """As the provider counts it."""
    repairs: tuple[EncodingRepair, ...] = ()


Decode: TypeAlias = Callable[[Mapping[str, object], Mapping[str, str]], Decoded]
"""A decoder: a body and the neutral call ids by those of the request give the answer."""
