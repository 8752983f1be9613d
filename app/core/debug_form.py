"""JSON values as Rust's serde_json prints them for debugging.

goose counts the arguments of a call in this form, so its numbers can be
compared only with counts of the same text.

Source: docs/semantics/goose.md#the-count.
"""

from collections.abc import Mapping

from app.core import canonical
from app.core.canonical import Json
from app.core.text import is_control

_ESCAPES = {"\t": "\\t", "\r": "\\r", "\n": "\\n", '"': '\\"', "\\": "\\\\", "\0": "\\0"}


def debug_object(fields: Mapping[str, Json]) -> str:
    """An object without the word for its kind, as a map of its own is printed.

    >>> debug_object({"path": "/tmp/a.txt", "lines": [1, None]})
    '{"path": String("/tmp/a.txt"), "lines": Array [Number(1), Null]}'
    """
    pairs = (f"{_text(key)}: {debug_value(value)}" for key, value in fields.items())
    return "{" + ", ".join(pairs) + "}"


def debug_value(value: Json) -> str:
    """A value with the word for its kind in front."""
    match value:
        case None:
            return "Null"
        case bool():
            return f"Bool({str(value).lower()})"
        case int() | float():
            return f"Number({canonical.encode(value).decode()})"
        case str():
            return f"String({_text(value)})"
        case list():
            return f"Array [{', '.join(map(debug_value, value))}]"
        case _:
            return f"Object {debug_object(value)}"


def _text(text: str) -> str:
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    known = _ESCAPES.get(character)
    if known is not None:
        return known
    return f"\\u{{{ord(character):x}}}" if is_control(character) else character
