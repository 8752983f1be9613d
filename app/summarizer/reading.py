"""Readings of JSON that somebody else wrote: every value may be of any type.

Source: docs/semantics/compaction.md#the-services-own-summarizer.
"""

from collections.abc import Mapping, Sequence

from app.core import canonical

_NOTHING: Mapping[str, object] = {}


def json_object(data: bytes) -> Mapping[str, object] | None:
    """The object that bytes hold; None where they hold none or are no JSON."""
    try:
        value = canonical.decode(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def object_of(value: object) -> Mapping[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def list_of(value: object) -> Sequence[object]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else ()


def text_of(content: object) -> str:
    """The text of a message's content, which is a string or an array of parts."""
    if isinstance(content, str):
        return content
    texts = (object_of(part).get("text") for part in list_of(content))
    return "".join(text for text in texts if isinstance(text, str))


def whole_text(text: str) -> str:
    """`text` with the halves of surrogate pairs joined, and U+FFFD for those that stand alone.

    A stream may cut a pair in two, and a lone half has no UTF-8.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def usage_of(value: object) -> Mapping[str, object] | None:
    """The usage of an answer; None where there is none, or none that can be stored."""
    usage = object_of(value)
    try:
        canonical.encode(usage)
    except ValueError:
        return None
    return usage or None
