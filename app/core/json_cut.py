"""Cutting JSON so that it stays JSON: long texts, lists and objects lose their ends.

Source: docs/semantics/request-copy.md#json-that-stays-json.
"""

from bisect import bisect_right
from collections.abc import Callable

from app.core import canonical
from app.core.canonical import Json
from app.core.json_text import parsed_json

MOST_CHARS = 1_000_000
"""Longer text is not read: to find the best cut it is written a dozen times."""

_MOST_KEPT = 2**15
_REST_KEY = "\N{HORIZONTAL ELLIPSIS}"
"""The name under which an object tells what it has lost."""


def cut_json(text: str, fits: Callable[[str], bool], location: str = "") -> str | None:
    """The most of a JSON text that fits; None of what is no list or object, or can never fit.

    Every text keeps so many characters at most, every list so many items and
    every object so many names, the same number for all of them.

    Args:
        text: As the tool wrote it.
        fits: Whether a cut text is short enough.
        location: Where the whole is, for the marks of what was left out.
    """
    if len(text) > MOST_CHARS:
        return None
    value = parsed_json(text)
    if not isinstance(value, list | dict):
        return None

    def written(kept: int) -> str:
        return canonical.encode(_cut(value, kept, location)).decode()

    counts = range(1, min(_MOST_KEPT, len(text)) + 1)
    try:
        found = bisect_right(counts, False, key=lambda kept: not fits(written(kept)))
        best = written(counts[found - 1]) if found else None
    except ValueError:
        # It holds what no request may: NaN, or half of a surrogate pair.
        return None
    return best if best is not None and fits(best) else None


def _cut(value: Json, kept: int, location: str) -> Json:
    match value:
        case str() if len(value) > kept:
            shortened = f"{value[:kept]}{_mark(len(value) - kept, 'characters', location)}"
            return shortened if len(shortened) < len(value) else value
        case list():
            items = [_cut(item, kept, location) for item in value[:kept]]
            left = len(value) - kept
            return [*items, _mark(left, "items", location)] if left > 0 else items
        case dict():
            names = list(value)
            some = {name: _cut(value[name], kept, location) for name in names[:kept]}
            left = len(names) - kept
            return {**some, _REST_KEY: _mark(left, "names", location)} if left > 0 else some
        case _:
            return value


def _mark(count: int, what: str, location: str) -> str:
    return f"{_REST_KEY} [{count} {what} omitted{location}]"
