"""Recovery: what happens when a provider calls a request too long in the middle of a reply.

Source: docs/semantics/goose.md#after-an-overflow.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

ReplyEvent: TypeAlias = Literal["context_overflow", "answered", "compaction_failed"]
"""What happens in a reply; every piece of a stream that arrives is an answer."""
ReplyAction: TypeAlias = Literal["continue", "compact", "stop_still_too_long", "stop_failed"]

ALLOWED_COMPACTIONS = 1
"""In a row, without an answer between them: another one would find the same history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """A reply on its way, told by the overflows in a row."""

    overflows: int = 0

    def after(self, event: ReplyEvent) -> "tuple[Recovery, ReplyAction]":
        """The state after an event, and what to do.

        The threshold does not matter here, nor whether it is switched off.

        >>> Recovery().after("context_overflow")
        (Recovery(overflows=1), 'compact')
        """
        match event:
            case "answered":
                return Recovery(), "continue"
            case "compaction_failed":
                return self, "stop_failed"
            case "context_overflow":
                met = Recovery(overflows=self.overflows + 1)
                is_allowed = met.overflows <= ALLOWED_COMPACTIONS
                return met, "compact" if is_allowed else "stop_still_too_long"
