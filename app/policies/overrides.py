"""What each value of a policy may be.

Source: docs/policies.md.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from app.core.errors import ContextError

Check: TypeAlias = Callable[[str, object], object]
"""Takes a value's name and what was given for it; gives what the policy holds."""

LARGEST = 2**31 - 1


class UnknownPolicyOverride(ContextError):
    """The preset has no such value, or not with that content."""

    code = "unknown_policy_override"


def whole_number(least: int, most: int) -> Check:
    """A whole number within bounds, both allowed; `true` is none."""

    def check(key: str, value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise UnknownPolicyOverride(f"{key} must be a whole number from {least} to {most}", key=key)

    return check


def or_none(check: Check) -> Check:
    """What another check takes, or null."""

    def check_or_none(key: str, value: object) -> object:
        return None if value is None else check(key, value)

    return check_or_none


def one_of(*names: str) -> Check:
    """One of some names."""

    def check(key: str, value: object) -> object:
        for name in names:
            if name == value:
                return name
        raise UnknownPolicyOverride(f"{key} must be one of {', '.join(names)}", key=key)

    return check


def true_or_false(key: str, value: object) -> object:
    """A JSON boolean."""
    if isinstance(value, bool):
        return value
    raise UnknownPolicyOverride(f"{key} must be true or false", key=key)


CHECKS: Mapping[str, Check] = {
    "auto_compact_percent": whole_number(1, 100),
    "max_tool_result_tokens": whole_number(1, LARGEST),
    "prune_tool_result_chars": whole_number(1, LARGEST),
    "auto_prune": true_or_false,
    "kept_user_message_tokens": whole_number(0, LARGEST),
    "tool_order": one_of("given", "name"),
    # Codex's own windows and lines: whether one makes sense is asked with the model.
    "model_context_window": or_none(whole_number(-(2**63), 2**63 - 1)),
    "model_auto_compact_token_limit": or_none(whole_number(-(2**63), 2**63 - 1)),
    "model_auto_compact_token_limit_scope": one_of("total", "body_after_prefix"),
    "auto_compact_fallback_buffer_tokens": or_none(whole_number(1, LARGEST)),
    "reminder_threshold_tokens": or_none(whole_number(1, LARGEST)),
    "strict_parity": true_or_false,
    "output_reserve_cap_tokens": whole_number(0, LARGEST),
    "absolute_line_tokens": whole_number(1, LARGEST),
    "target_percent": whole_number(1, 100),
    "min_gain_tokens": whole_number(0, LARGEST),
}
"""The check of every value that can be overridden, whichever preset has it."""
