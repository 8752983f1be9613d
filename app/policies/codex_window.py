"""The windows of a model as Codex CLI resolves them: four numbers with four meanings.

The declared window is overridden once; the resolved window, the hard limit
and the line follow from it. Whoever comes later takes these numbers and does
not look at the profile or the policy again.

Source: docs/semantics/codex.md#windows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from app.core.errors import ContextError
from app.core.limits import LimitOrigin, LimitSource
from app.core.model_profile import ModelProfile
from app.policies.origins import unknown_origin

Arithmetic: TypeAlias = Literal["saturating", "wrapping"]
"""What nine tenths of a window do beyond 64 bits; `wrapping` is Codex's own."""

LARGEST = 2**63 - 1
SMALLEST = -(2**63)
"""Codex counts tokens in signed numbers of 64 bits."""

DEFAULT_PERCENT = 90
"""Share of a window at which Codex compacts. It reckons in tenths, which shows beyond 64 bits."""

PERCENTS = range(151)
"""Shares of a window that make sense; 150 is the largest that Codex was seen to take."""


class InvalidWindow(ContextError):
    """A window or a line is not positive, or a percentage is out of its bounds."""

    code = "invalid_window"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOverrides:
    """What a session's policy says instead of its model."""

    context_window: int | None = None
    auto_compact_token_limit: int | None = None
    auto_compact_percent: int = DEFAULT_PERCENT
    arithmetic: Arithmetic = "saturating"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWindow:
    """The numbers of one model under one policy. None is unknown, and not unlimited."""

    name: str
    comp_hash: str | None
    context_window: int | None
    """The resolved window, whole."""
    hard_limit_tokens: int | None
    """The share of it that a request may take: the effective window."""
    auto_compact_token_limit: int | None
    """The line of scope `total`: never above nine tenths of a known window."""
    body_token_limit: int | None
    """The line of scope `body_after_prefix`: the policy's own is not clamped."""
    provenance: Mapping[str, LimitOrigin]
    """By the names that `Limits` has; the hard limit is its `effective_input_tokens`."""


def apply_override(
    context_window: int | None, max_context_window: int | None, override: int | None
) -> int | None:
    """The declared window, or the override in its place, at most the maximum.

    Without an override the declared window stays, also above the maximum.

    >>> apply_override(273_000, 400_000, 500_000)
    400000
    """
    if override is None:
        return context_window
    return override if max_context_window is None else min(override, max_context_window)


def resolved_window(context_window: int | None, max_context_window: int | None) -> int | None:
    """The declared window, or the maximum where none is declared."""
    return max_context_window if context_window is None else context_window


def effective_window(window: int | None, percent: int) -> int | None:
    """The share of a window that a request may take, truncated toward zero.

    >>> effective_window(272_000, 95)
    258400
    """
    return None if window is None else _quotient(_saturated(window * percent), 100)


def auto_limit(
    window: int | None,
    explicit: int | None,
    arithmetic: Arithmetic = "saturating",
    percent: int = DEFAULT_PERCENT,
) -> int | None:
    """The line: a share of the window, or the explicit one where it is lower.

    An unknown window leaves an explicit line as it is.

    >>> auto_limit(100_000, None), auto_limit(100_000, 70_000), auto_limit(None, 70_000)
    (90000, 70000, 70000)
    """
    if window is None:
        return explicit
    share = Fraction(percent, 100)
    product = window * share.numerator
    product = _wrapped(product) if arithmetic == "wrapping" else _saturated(product)
    derived = _quotient(product, share.denominator)
    return derived if explicit is None else min(explicit, derived)


def resolve_window(profile: ModelProfile, overrides: WindowOverrides) -> ModelWindow:
    """The numbers of a model, and where each comes from."""
    percent = profile.effective_context_window_percent
    declared = apply_override(
        profile.context_window, profile.max_context_window, overrides.context_window
    )
    window = resolved_window(declared, profile.max_context_window)
    hard_limit = effective_window(window, percent)
    chosen = overrides.auto_compact_token_limit
    explicit = profile.auto_compact_token_limit if chosen is None else chosen
    line = auto_limit(window, explicit, overrides.arithmetic, overrides.auto_compact_percent)
    return ModelWindow(
        name=profile.name,
        comp_hash=profile.comp_hash,
        context_window=window,
        hard_limit_tokens=hard_limit,
        auto_compact_token_limit=line,
        body_token_limit=line if chosen is None else chosen,
        provenance={
            "context_window": _window_origin(profile, overrides, window),
            "effective_input_tokens": _hard_limit_origin(hard_limit, percent),
            "auto_compact_token_limit": _line_origin(profile, overrides, line),
        },
    )


def refuse_impossible_window(profile: ModelProfile, overrides: WindowOverrides) -> None:
    """Refuse what would be reached by every request. Codex takes it as it is.

    Raises:
        InvalidWindow: Names the first value that is out of its bounds.
    """
    limits = {
        "model_context_window": overrides.context_window,
        "model_auto_compact_token_limit": overrides.auto_compact_token_limit,
        "context_window": profile.context_window,
        "max_context_window": profile.max_context_window,
        "auto_compact_token_limit": profile.auto_compact_token_limit,
    }
    for key, tokens in limits.items():
        if tokens is not None and not 0 < tokens <= LARGEST:
            raise InvalidWindow(f"{key} must be from 1 to {LARGEST}, not {tokens}", key=key)
    percent = profile.effective_context_window_percent
    if percent not in PERCENTS:
        raise InvalidWindow(
            f"effective_context_window_percent must be from 0 to {PERCENTS[-1]}, not {percent}",
            key="effective_context_window_percent",
        )


def _quotient(dividend: int, divisor: int) -> int:
    """The quotient truncated toward zero; Python's own goes down."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


def _saturated(number: int) -> int:
    return min(max(number, SMALLEST), LARGEST)


def _wrapped(number: int) -> int:
    return (number - SMALLEST) % 2**64 + SMALLEST


def _window_origin(
    profile: ModelProfile, overrides: WindowOverrides, window: int | None
) -> LimitOrigin:
    if window is None:
        return unknown_origin("neither the profile nor the policy says how large the window is")
    requested, maximum = overrides.context_window, profile.max_context_window
    if requested is None:
        field = "max_context_window" if profile.context_window is None else "context_window"
        return LimitOrigin(
            requested=None, effective=window, source="session", why=f"{field} of the model profile"
        )
    why = "model_context_window of the policy"
    if window != requested:
        why += f", cut to the max_context_window {maximum} of the model profile"
    return LimitOrigin(requested=requested, effective=window, source="policy", why=why)


def _hard_limit_origin(hard_limit: int | None, percent: int) -> LimitOrigin:
    if hard_limit is None:
        return unknown_origin("the window is unknown")
    return LimitOrigin(
        requested=None,
        effective=hard_limit,
        source="derived",
        why=f"{percent} % of the window, rounded toward zero",
    )


def _line_origin(
    profile: ModelProfile, overrides: WindowOverrides, line: int | None
) -> LimitOrigin:
    if line is None:
        return unknown_origin("the window is unknown, and nothing sets a line")
    source: LimitSource = "policy"
    requested, why = (
        overrides.auto_compact_token_limit,
        "model_auto_compact_token_limit of the policy",
    )
    if requested is None:
        source = "session"
        requested, why = (
            profile.auto_compact_token_limit,
            "auto_compact_token_limit of the model profile",
        )
    if requested is None:
        return LimitOrigin(
            requested=None,
            effective=line,
            source="derived",
            why=f"{overrides.auto_compact_percent} % of the window",
        )
    if line != requested:
        why += f", cut to {overrides.auto_compact_percent} % of the window"
    return LimitOrigin(requested=requested, effective=line, source=source, why=why)
