"""Generation settings of a neutral request.

Source: docs/semantics/engine.md#generation.
"""

from collections.abc import Mapping

KNOWN_FIELDS = ("temperature", "top_p", "thinking")
"""Always in a request, null where nobody set them."""

RESERVED_FIELDS = frozenset({"model", "messages", "tools", "max_output_tokens"})
"""Fields that a request has from elsewhere."""


def merged(session: Mapping[str, object], call: Mapping[str, object]) -> dict[str, object]:
    """The session's settings with those of one call over them; null removes one.

    The order does not depend on the order of the arguments' keys.
    """
    fields = {key: value for key, value in {**session, **call}.items() if value is not None}
    return {key: fields[key] for key in sorted(fields)}


def extra_fields(generation: Mapping[str, object]) -> dict[str, object]:
    """The settings that stand in a request only when they were given."""
    return {key: value for key, value in generation.items() if key not in KNOWN_FIELDS}
