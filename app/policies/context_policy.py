"""How much of a conversation each request shows: one value of a policy.

Source: docs/semantics/awaken.md#by-tokens-and-pinned-messages.
"""

from collections.abc import Mapping

from app.core.trimming import KEEP_ALL, Trimming
from app.policies.compact_config import LARGEST_COUNT
from app.policies.overrides import Check, UnknownPolicyOverride, whole_number

KEEP_ALL_NAME = "keep_all"
MOST_PINS = 256
"""Pinned messages are in every request, so a session has few of them."""


def context_policy_from(value: object, name: str = "context_policy") -> Trimming:
    """The trimming of a JSON value.

    Args:
        value: `keep_all`, or an object of at least one limit, and of the messages that are pinned.
        name: What begins the keys of refusals.

    Raises:
        UnknownPolicyOverride: It is neither, or a limit cannot be so; `key` names it.
    """
    if value == KEEP_ALL_NAME:
        return KEEP_ALL
    if not isinstance(value, Mapping) or not value:
        detail = f"{name} must be {KEEP_ALL_NAME} or an object of keep_last, keep_tokens"
        raise UnknownPolicyOverride(detail, key=name)
    for given in value:
        if given not in _CHECKS:
            key = f"{name}.{given}"
            raise UnknownPolicyOverride(f"{name} has no field {given!r}", key=key)
    if "least_recent" in value and "keep_tokens" not in value:
        key = f"{name}.least_recent"
        raise UnknownPolicyOverride(f"{key} stands beside keep_tokens only", key=key)
    if set(value) == {"pinned"}:
        key = f"{name}.pinned"
        raise UnknownPolicyOverride(f"{key} stands beside a limit only", key=key)
    checked = {field: _CHECKS[field](f"{name}.{field}", given) for field, given in value.items()}
    # Each check gives a value of its field's own type.
    return Trimming(**checked)  # type: ignore[arg-type]


def context_policy_json(trimming: Trimming) -> str | dict[str, object]:
    """The value that `context_policy_from` takes back."""
    limits: dict[str, object] = {}
    if trimming.keep_last is not None:
        limits["keep_last"] = trimming.keep_last
    if trimming.keep_tokens is not None:
        limits |= {"keep_tokens": trimming.keep_tokens, "least_recent": trimming.least_recent}
    if trimming.pinned:
        limits["pinned"] = sorted(trimming.pinned)
    return limits or KEEP_ALL_NAME


def _ids(key: str, value: object) -> object:
    if isinstance(value, list | tuple) and len(value) <= MOST_PINS:
        ids = frozenset(id_ for id_ in value if isinstance(id_, str) and id_)
        if all(isinstance(id_, str) and id_ for id_ in value):
            return ids
    raise UnknownPolicyOverride(f"{key} must be at most {MOST_PINS} message ids", key=key)


_CHECKS: Mapping[str, Check] = {
    "keep_last": whole_number(0, LARGEST_COUNT),
    "keep_tokens": whole_number(0, LARGEST_COUNT),
    "least_recent": whole_number(0, LARGEST_COUNT),
    "pinned": _ids,
}
