"""What each value of a policy may be.

Source: docs/policies.md.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeGuard

from app.core.errors import ContextError
from app.core.truncation import Truncation

Check: TypeAlias = Callable[[str, object], object]
"""Takes a value's name and what was given for it; gives what the policy holds."""

LARGEST = 2**31 - 1
MAX_RETENTION_TOOLS = 256
MAX_TOOL_NAME_CHARS = 256
MAX_CACHE_SECONDS = 86_400
"""A day: no provider holds a prompt for longer."""


class UnknownPolicyOverride(ContextError):
    """The preset has no such value, or not with that content."""

    code = "unknown_policy_override"


def whole_number(least: int, most: int) -> Check:
    """A whole number within bounds, both allowed; `true` is none."""

    def check(key: str, value: object) -> object:
        if _is_whole(value, least, most):
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


def number(key: str, value: object) -> object:
    """A finite number as a float; `true` is none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return float(value)
    raise UnknownPolicyOverride(f"{key} must be a number within {LARGEST}", key=key)


def text(most_chars: int) -> Check:
    """A text of at most so many characters."""

    def check(key: str, value: object) -> object:
        if isinstance(value, str) and len(value) <= most_chars:
            return value
        detail = f"{key} must be a text of at most {most_chars} characters"
        raise UnknownPolicyOverride(detail, key=key)

    return check


def true_or_false(key: str, value: object) -> object:
    """A JSON boolean."""
    if isinstance(value, bool):
        return value
    raise UnknownPolicyOverride(f"{key} must be true or false", key=key)


def by_tool(*names: str) -> Check:
    """One of some names for each of a number of tools; the tools come out in order."""
    known = ", ".join(names)

    def check(key: str, value: object) -> object:
        if not isinstance(value, Mapping) or len(value) > MAX_RETENTION_TOOLS:
            raise UnknownPolicyOverride(
                f"{key} must be an object of at most {MAX_RETENTION_TOOLS} tool names", key=key
            )
        for tool, chosen in value.items():
            if not isinstance(tool, str) or not 1 <= len(tool) <= MAX_TOOL_NAME_CHARS:
                raise UnknownPolicyOverride(
                    f"{key} must name tools in 1 to {MAX_TOOL_NAME_CHARS} characters", key=key
                )
            if not isinstance(chosen, str) or chosen not in names:
                raise UnknownPolicyOverride(f"{key} must be one of {known} for every tool", key=key)
        return dict(sorted(value.items()))

    return check


def truncation(key: str, value: object) -> object:
    """A mode and a limit, both of them."""
    if not isinstance(value, Mapping) or set(value) != {"mode", "limit"}:
        raise UnknownPolicyOverride(f"{key} must be an object of mode and limit", key=key)
    mode, limit = value["mode"], value["limit"]
    if mode != "bytes" and mode != "tokens":
        raise UnknownPolicyOverride(f"{key}.mode must be one of bytes, tokens", key=key)
    if not _is_whole(limit, 1, LARGEST):
        detail = f"{key}.limit must be a whole number from 1 to {LARGEST}"
        raise UnknownPolicyOverride(detail, key=key)
    return Truncation(mode=mode, limit=limit)


def _is_whole(value: object, least: int, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
