"""What an attempt at a summary ends with: a model's text, or a failure with its class.

Source: docs/semantics/compaction.md#the-services-own-summarizer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

SummaryError: TypeAlias = Literal["context_overflow", "timeout", "transient", "deterministic"]
"""How an attempt failed: the classes that a worker reports too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryText:
    """A model's whole answer; whether it is a usable summary is not looked at here."""

    text: str
    finish_reason: str | None
    tool_calls: int
    usage: Mapping[str, object] | None
    """As the endpoint counts it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFailure:
    """An attempt without an answer."""

    error: SummaryError
    detail: str
    """A sentence of our own: it repeats no words of the endpoint, which may quote the conversation
    or the key."""


SummaryAnswer: TypeAlias = SummaryText | SummaryFailure
