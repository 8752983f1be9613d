"""When a conversation is compacted, who is asked, and what stays: one value of a policy.

Source: docs/semantics/awaken.md#the-settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite

from app.core.text import is_blank
from app.policies.overrides import Check, UnknownPolicyOverride, or_none, whole_number

LARGEST_COUNT = 2**63 - 1
"""Of messages: the largest number that is told from others by every JSON reader of the service."""
LARGEST_TOKENS = 2**32 - 1
"""Awaken's own bound of `max_tokens`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactConfig:
    """The settings of a compaction; what is made in code is not checked."""

    agent_id: str = "compactor"
    """The agent that summarises."""
    agent_instructions: str | None = None
    """In place of that agent's own system instructions."""
    threshold: int = 40
    """More messages than these trigger where `max_tokens` is not set."""
    keep_last: int = 8
    """The newest messages, of whatever role, that no summary covers."""
    max_tokens: int | None = None
    """The window. Where it is set, tokens trigger and `threshold` means nothing."""
    trigger_ratio: float = 0.8
    """The share of `max_tokens` at which a compaction is due."""
    prefetch_ratio: float = 0.75
    """The share of the trigger at which a summary is begun in the background."""
    instructions: str | None = None
    """The prompt of each summary; None is the built-in one, and an empty text is a prompt."""


DEFAULT_COMPACT = CompactConfig()


def compact_from(value: object, name: str = "compact") -> CompactConfig:
    """The settings of a JSON object; absent fields have their defaults.

    Args:
        value: The object. It replaces other settings whole, field by field nothing is inherited.
        name: What begins the keys of refusals.

    Raises:
        UnknownPolicyOverride: It is no object, has another field, or a field
            has a value that it cannot have; `key` names it.
    """
    if not isinstance(value, Mapping):
        raise UnknownPolicyOverride(f"{name} must be an object", key=name)
    for given in value:
        if given not in _CHECKS:
            key = f"{name}.{given}"
            raise UnknownPolicyOverride(f"{name} has no field {given!r}", key=key)
    checked = {field: _CHECKS[field](f"{name}.{field}", given) for field, given in value.items()}
    # Each check gives a value of its field's own type.
    return CompactConfig(**checked)  # type: ignore[arg-type]


def compact_json(config: CompactConfig) -> dict[str, object]:
    """The settings as JSON, which `compact_from` takes back; texts that are null are left out."""
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    return {
        field: value
        for field, value in values.items()
        if value is not None or field not in ("instructions", "agent_instructions")
    }


def _said(key: str, value: object) -> object:
    if isinstance(value, str) and not is_blank(value):
        return value
    raise UnknownPolicyOverride(f"{key} must not be blank", key=key)


def _text(key: str, value: object) -> object:
    if isinstance(value, str):
        return value
    raise UnknownPolicyOverride(f"{key} must be a text", key=key)


def _trigger_share(key: str, value: object) -> object:
    share = _number(value)
    if share is not None and 0 < share <= 1:
        return share
    raise UnknownPolicyOverride(f"{key} must be in (0, 1]", key=key)


def _soft_share(key: str, value: object) -> object:
    share = _number(value)
    if share is not None and 0 < share < 1:
        return share
    raise UnknownPolicyOverride(f"{key} must be in (0, 1)", key=key)


def _number(value: object) -> float | None:
    """A finite number; None for anything else. `true` is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # A whole number beyond every float is as little a share as infinity is.
    return float(value) if abs(value) <= 1 and isfinite(value) else None


_CHECKS: Mapping[str, Check] = {
    "agent_id": _said,
    "agent_instructions": or_none(_text),
    "threshold": whole_number(1, LARGEST_COUNT),
    "keep_last": whole_number(0, LARGEST_COUNT),
    "max_tokens": or_none(whole_number(1, LARGEST_TOKENS)),
    "trigger_ratio": _trigger_share,
    "prefetch_ratio": _soft_share,
    "instructions": or_none(_text),
}
