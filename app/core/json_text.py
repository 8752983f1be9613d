"""JSON that came as text: from callers and from models, so it may be anything.

Source: docs/semantics/request-copy.md#arguments.
"""

import re

from app.core import canonical
from app.core.canonical import Json

MAX_DEPTH = 64
"""Deeper text is not read: how deep a parser goes depends on who calls it."""

_BRACKET = re.compile(r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)|([\[{])|([\]}])', re.DOTALL)
"""Strings are passed over, one that never ends too, so that no text is looked at twice."""


def parsed_json(text: str) -> Json:
    """The value of a text; None where it is no JSON, or too deep."""
    depth = deepest = 0
    for found in _BRACKET.finditer(text):
        depth += (found[1] is not None) - (found[2] is not None)
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        return None
    try:
        return canonical.decode(text.encode())
    except ValueError:
        return None


def json_object(text: str) -> dict[str, Json] | None:
    """The object that a text is; None for anything else, and for NaN or half a surrogate pair."""
    value = parsed_json(text)
    if not isinstance(value, dict):
        return None
    try:
        canonical.encode(value)
    except ValueError:
        return None
    return value
