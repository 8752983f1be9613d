"""What a session is taken to hold once a provider has called its request too long.

Source: docs/semantics/codex.md#an-overflow.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

FillRule: TypeAlias = Literal["full", "remainder"]
"""`remainder` is Codex's own: what the session's cumulative tokens leave of the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledTokens:
    """The two totals after an overflow."""

    last_total_tokens: int
    """Of the last response: what the next check compares."""
    cumulative_tokens: int
    """Of all responses so far."""


def fill_full(
    cumulative_tokens: int, hard_limit_tokens: int | None, rule: FillRule = "full"
) -> FilledTokens | None:
    """The totals after an overflow; None with an unknown window, where nothing changes.

    By `full` the next check reaches the hard limit, always. By `remainder` a
    session that has used much already may seem nearly empty.
    """
    if hard_limit_tokens is None:
        return None
    if rule == "full":
        return FilledTokens(
            last_total_tokens=hard_limit_tokens, cumulative_tokens=cumulative_tokens
        )
    return FilledTokens(
        last_total_tokens=max(0, hard_limit_tokens - cumulative_tokens),
        cumulative_tokens=hard_limit_tokens,
    )
