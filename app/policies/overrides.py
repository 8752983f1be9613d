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
}
"""The check of every value that can be overridden, whichever preset has it."""
