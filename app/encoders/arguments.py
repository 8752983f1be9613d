"""Arguments of calls, for providers that read them as a JSON object.

Source: docs/semantics/encoders.md#arguments.
"""

from app.core import canonical
from app.core.canonical import Json
from app.core.json_text import json_object

RAW_KEY = "_raw"
"""Holds arguments that are no object, so that nothing that a model wrote is lost."""


def argument_object(text: str) -> dict[str, Json]:
    """The arguments as an object: what is none is wrapped, and nothing is no argument."""
    if not text.strip():
        return {}
    value = json_object(text)
    return {RAW_KEY: text} if value is None else value


def argument_text(text: str) -> str:
    """The arguments as text of a JSON object: as they were written where they are one.

    >>> argument_text('{"a": 1}'), argument_text(""), argument_text("[1")
    ('{"a": 1}', '{}', '{"_raw":"[1"}')
    """
    if text.strip() and json_object(text) is not None:
        return text
    return canonical.encode(argument_object(text)).decode()
