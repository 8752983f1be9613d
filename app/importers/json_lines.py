"""Transcripts of one JSON object a line, some of which may be damaged.

Source: docs/semantics/importers.md#lines.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from app.core import canonical
from app.core.json_text import parsed_json
from app.importers.gathering import Gathering
from app.importers.reading import JsonObject
from app.importers.transcript import InvalidTranscript, SkipCode

_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape of JSON text: a whole surrogate pair, half of one, or any other."""


def read_rows(
    transcript: object, gathering: Gathering, read: Callable[[JsonObject, int], None]
) -> None:
    """Read the objects of a transcript one by one; what is none, or damaged, is skipped.

    Args:
        transcript: Lines of JSON, the text of one JSON list, or such a list.
        gathering: Is told what is skipped and what is repaired.
        read: Is given each object and its line.

    Raises:
        InvalidTranscript: It is neither text nor a list.
    """
    told = gathering.told()
    for line, value in _values(transcript, gathering):
        fault = _fault(value, line, read)
        if fault is not None:
            gathering.forget(told)
            gathering.skip(line, fault)
        told = gathering.told()


def _fault(value: object, line: int, read: Callable[[JsonObject, int], None]) -> SkipCode | None:
    """Why a line is skipped; None where it was read."""
    if not isinstance(value, dict):
        return "not_an_object"
    try:
        read(value, line)
    except InvalidTranscript:
        return "invalid_message"
    return None


def _values(transcript: object, gathering: Gathering) -> Iterator[tuple[int, object]]:
    if isinstance(transcript, str):
        text = transcript.removeprefix("\ufeff")
        entries = _value(text, gathering) if text.lstrip().startswith("[") else None
        if isinstance(entries, list):
            yield from enumerate(entries, start=1)
        else:
            yield from _lines(text, gathering)
    elif isinstance(transcript, Sequence):
        yield from enumerate(transcript, start=1)
    else:
        raise InvalidTranscript("a transcript must be text or a list", key="transcript")


def _lines(text: str, gathering: Gathering) -> Iterator[tuple[int, object]]:
    # JSON text may hold other line breaks than this one as they are.
    for line, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        value = _value(written, gathering)
        if value is None:
            gathering.skip(line, "not_json")
        else:
            yield line, value


def _value(text: str, gathering: Gathering) -> object:
    """The value of JSON text; None where it is none that may be kept."""
    mended = _mended(text)
    value = parsed_json(mended)
    try:
        canonical.encode(value)
    except ValueError:
        return None
    if value is not None and mended != text:
        gathering.repair("lone_surrogate_replaced")
    return value


def _mended(text: str) -> str:
    """The text with U+FFFD for every half of a surrogate pair."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(lambda found: r"\ufffd" if found["lone"] else found[0], text)
