"""Where limits come from, said the same way by every line.

Source: docs/semantics/budget.md#limits.
"""

from app.core.limits import LimitOrigin, Limits
from app.core.model_profile import ModelProfile


def window_origin(profile: ModelProfile) -> LimitOrigin:
    """The origin of a known window that is taken as the profile has it."""
    return LimitOrigin(
        requested=None,
        effective=profile.context_window,
        source="session",
        why="the window of the model profile",
    )


def derived_origin(effective: int, why: str) -> LimitOrigin:
    """The origin of a number that follows from others."""
    return LimitOrigin(requested=None, effective=effective, source="derived", why=why)


def unknown_origin(why: str) -> LimitOrigin:
    """The origin of a number that nobody knows."""
    return LimitOrigin(requested=None, effective=None, source="unknown", why=why)


def unknown_limits(reserved_output_tokens: int) -> Limits:
    """The limits of a model whose window nobody knows: none."""
    why = "the model profile does not say how large the window is"
    return Limits(
        context_window=None,
        effective_input_tokens=None,
        auto_compact_token_limit=None,
        line_tokens=None,
        compact_at_input_tokens=None,
        reserved_output_tokens=reserved_output_tokens,
        provenance={"context_window": unknown_origin(why)},
    )
