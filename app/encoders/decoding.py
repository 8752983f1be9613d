"""Decodings: what a provider answered, as the blocks of an assistant message.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from app.core.blocks import Blocks
from app.core.errors import ContextError
from app.encoders.encoding import EncodingRepair


class InvalidAnswer(ContextError):
    """A body is no answer of the provider that it is said to come from."""

    code = "invalid_answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is known of the request that an answer belongs to."""

    call_ids: Mapping[str, str] = field(default_factory=dict)
    """Neutral call ids by those of the request, as encoding it gave them."""
    model: str | None = None
    """As the request named it."""

    def state_model(self, answered: str | None) -> str | None:
        """The model that provider state is kept for: as asked, else as the answer names it."""
        return answered if self.model is None else self.model


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


Decode: TypeAlias = Callable[[Mapping[str, object], Asked], Decoded]
"""A decoder: a body, and what was asked, give the answer."""
