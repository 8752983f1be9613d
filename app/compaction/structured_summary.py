"""A summary as an object of nine fields, read leniently from what a model wrote.

Models wrap, cut and bend JSON; what can be read is read, and nothing is
repaired. Where no object says anything, the model's text is the summary.

Source: docs/semantics/goose.md#the-structured-summary.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from app.core import canonical
from app.core.canonical import Json
from app.core.json_text import json_object
from app.core.text import WHITE_SPACE, is_blank

CLOSE_ANALYSIS = "</analysis>"
"""Ends the notes that a model makes before it answers; they are not part of a summary."""
JSON_FENCE = "```json"

MOST_FENCES = 16
"""So many of the last fences are looked at: each may lead through the rest of the text."""

_STRING_OR_BRACE = re.compile(r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)|[{}]', re.DOTALL)
"""A string that never ends goes on to the end of the text."""
_CONTROL = re.compile(r"[\x00-\x1f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFile:
    """A file that the work was about."""

    path: str
    summary: str
    key_code: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredSummary:
    """What the next exchange has to know. Texts are as the model wrote them, not trimmed."""

    user_intent: tuple[str, ...] = ()
    technical_concepts: tuple[str, ...] = ()
    files: tuple[SummaryFile, ...] = ()
    errors_and_fixes: tuple[str, ...] = ()
    problem_solving: tuple[str, ...] = ()
    user_messages: tuple[str, ...] = ()
    pending_tasks: tuple[str, ...] = ()
    current_work: str | None = None
    next_step: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    """What else the object had, for a template that knows of it."""

    @property
    def is_empty(self) -> bool:
        """Whether none of the nine fields says anything, whatever else the object had."""
        return not any(
            (
                *(self.user_intent, self.technical_concepts, self.files, self.errors_and_fixes),
                *(self.problem_solving, self.user_messages, self.pending_tasks),
                *(self.current_work, self.next_step),
            )
        )


FIELDS = (
    *("user_intent", "technical_concepts", "files", "errors_and_fixes", "problem_solving"),
    *("user_messages", "pending_tasks", "current_work", "next_step"),
)
"""The nine fields, in the order in which they are told."""


def read_summary(text: str) -> StructuredSummary | None:
    """The summary in a model's answer; None where the answer itself has to do.

    >>> read_summary('{"next_step": 0}').next_step
    '0'
    """
    for candidate in _candidates(text):
        value = json_object(candidate)
        if value is None:
            value = json_object(_with_controls_escaped(candidate))
        if value is not None:
            summary = summary_of(value)
            if not summary.is_empty:
                return summary
    return None


def summary_of(value: Mapping[str, Json]) -> StructuredSummary:
    """The summary that an object means, without what is blank in it."""
    return StructuredSummary(
        user_intent=_strings(value.get("user_intent")),
        technical_concepts=_strings(value.get("technical_concepts")),
        files=_files(value.get("files")),
        errors_and_fixes=_strings(value.get("errors_and_fixes")),
        problem_solving=_strings(value.get("problem_solving")),
        user_messages=_strings(value.get("user_messages")),
        pending_tasks=_strings(value.get("pending_tasks")),
        current_work=_line(value.get("current_work")),
        next_step=_line(value.get("next_step")),
        extra={key: item for key, item in value.items() if key not in FIELDS},
    )


def plain_text(value: Json) -> str:
    """A value as text: items and pairs are joined, in the order in which they stand.

    >>> plain_text({"task": "t", "done": [1, True]})
    'task: t; done: 1; true'
    """
    match value:
        case None:
            return ""
        case str():
            return value
        case list():
            return "; ".join(map(plain_text, value))
        case dict():
            return "; ".join(f"{key}: {plain_text(item)}" for key, item in value.items())
        case _:
            return canonical.encode(value).decode()


def _candidates(text: str) -> Iterator[str]:
    """The objects that may be the summary, the likeliest first."""
    after = text.rpartition(CLOSE_ANALYSIS)[2]
    previous: str | None = None
    starts = [(after, at) for at in reversed(_fences(after)[-MOST_FENCES:])]
    for source, start in (*starts, (after, 0), (text, 0)):
        found = _object_at(source, start)
        if found is not None and found != previous:
            yield found
            previous = found


def _fences(text: str) -> list[int]:
    """The positions behind every fence."""
    positions: list[int] = []
    at = text.find(JSON_FENCE)
    while at >= 0:
        positions.append(at + len(JSON_FENCE))
        at = text.find(JSON_FENCE, positions[-1])
    return positions


def _object_at(text: str, start: int) -> str | None:
    """The braces that begin there, behind white space, up to the one that closes them."""
    while start < len(text) and text[start] in WHITE_SPACE:
        start += 1
    if not text.startswith("{", start):
        return None
    depth = 0
    for found in _STRING_OR_BRACE.finditer(text, start):
        depth += (found[0] == "{") - (found[0] == "}")
        if depth == 0 and found[0] == "}":
            return text[start : found.end()]
    return None


def _with_controls_escaped(text: str) -> str:
    """JSON whose strings hold raw line ends and tabs, mended."""
    return _STRING_OR_BRACE.sub(lambda found: _CONTROL.sub(_escaped, found[0]), text)


def _escaped(control: re.Match[str]) -> str:
    return f"\\u{ord(control[0]):04x}"


def _strings(value: Json) -> tuple[str, ...]:
    texts = map(plain_text, _listed(value))
    return tuple(text for text in texts if not is_blank(text))


def _line(value: Json) -> str | None:
    text = plain_text(value)
    return None if is_blank(text) else text


def _files(value: Json) -> tuple[SummaryFile, ...]:
    files = map(_file, _listed(value))
    return tuple(
        file
        for file in files
        if file.key_code is not None or not (is_blank(file.path) and is_blank(file.summary))
    )


def _file(value: Json) -> SummaryFile:
    if not isinstance(value, dict):
        return SummaryFile(path=plain_text(value), summary="", key_code=None)
    return SummaryFile(
        path=plain_text(value.get("path")),
        summary=plain_text(value.get("summary")),
        key_code=_line(value.get("key_code")),
    )


def _listed(value: Json) -> list[Json]:
    """The items of a list; any other value is the only one, and null is none."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
