"""How full a window is, by Codex CLI's two limits.

The line is compared with the tokens of the scope, the hard limit always
with all of them. Equality reaches a limit.

Source: docs/semantics/codex.md#the-status.
"""

from dataclasses import dataclass

from app.core.limits import LimitScope
from app.core.prefill import Prefill, PrefillSource
from app.policies.codex_window import ModelWindow

BASELINE_TOKENS = 12_000
"""What Codex takes off a window before it shows a percentage: no user fills that part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowUse:
    """What a window holds, and what of it counts."""

    active_context_tokens: int
    scope: LimitScope
    prefill: Prefill
    fallback_buffer_tokens: int | None = None
    """Room above the line for a fallback message; None where there is no fallback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStatus:
    """How far a window is from its limits. None is unknown."""

    active_context_tokens: int
    scope_tokens: int
    """Negative where a window has shrunk below its baseline."""
    scope_limit_tokens: int | None
    hard_limit_tokens: int | None
    base_window_tokens_remaining: int | None
    hard_limit_reached: bool
    token_limit_reached: bool
    prefill_input_tokens: int | None
    prefill_source: PrefillSource
    percent_left: int | None


def window_status(use: WindowUse, window: ModelWindow) -> WindowStatus:
    """The status of a window in use."""
    active, hard_limit = use.active_context_tokens, window.hard_limit_tokens
    scope_tokens, limit = _scoped(use, window)
    known = [
        max(0, most - used)
        for most, used in ((limit, scope_tokens), (hard_limit, active))
        if most is not None
    ]
    hard_limit_reached = _reaches(active, hard_limit)
    # The buffer moves neither the hard limit nor what remains to the line.
    buffered = None if limit is None else limit + (use.fallback_buffer_tokens or 0)
    return WindowStatus(
        active_context_tokens=active,
        scope_tokens=scope_tokens,
        scope_limit_tokens=limit,
        hard_limit_tokens=hard_limit,
        base_window_tokens_remaining=min(known, default=None),
        hard_limit_reached=hard_limit_reached,
        token_limit_reached=_reaches(scope_tokens, buffered) or hard_limit_reached,
        prefill_input_tokens=use.prefill.input_tokens,
        prefill_source=use.prefill.source,
        percent_left=None if hard_limit is None else percent_left(active, hard_limit),
    )


def percent_left(total_tokens: int, window_tokens: int) -> int:
    """The share of a window that is left beyond the baseline: 0 to 100, halves rounded up.

    >>> percent_left(20_000, 272_000)
    97
    """
    room = window_tokens - BASELINE_TOKENS
    if room <= 0:
        return 0
    left = max(0, room - max(0, total_tokens - BASELINE_TOKENS))
    return (200 * left + room) // (2 * room)


def _scoped(use: WindowUse, window: ModelWindow) -> tuple[int, int | None]:
    """The tokens that the line is compared with, and the line."""
    active = use.active_context_tokens
    if use.scope == "total":
        return active, window.auto_compact_token_limit
    baseline = use.prefill.input_tokens
    return active - (active if baseline is None else baseline), window.body_token_limit


def _reaches(tokens: int, limit: int | None) -> bool:
    return limit is not None and tokens >= limit
