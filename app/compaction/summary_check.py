"""The check that a model's answer is a summary that may replace a conversation.

Source: docs/semantics/compaction.md#the-summary-check.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import TypeAlias

from app.core.text import is_blank, trim

OPEN_ROOT = '<conversation_summary format_version="1">'
CLOSE_ROOT = "</conversation_summary>"

HEADINGS: tuple[str, ...] = (
    "## 1. Primary Request and Intent",
    "## 2. Key Technical Concepts",
    "## 3. Files and Code Sections",
    "## 4. Errors and Fixes",
    "## 5. Problem Solving and Decisions",
    "## 6. User Messages and Constraints",
    "## 7. Pending Tasks",
    "## 8. Current Work",
    "## 9. Next Safe Action",
)
"""The headings of a summary, once each and in this order."""

FORBIDDEN_TAGS: tuple[str, ...] = (
    "<conversation_summary",
    "</conversation_summary",
    "<system",
    "</system",
    "<developer",
    "</developer",
    "<instructions",
    "</instructions",
    "<system_reminder",
    "<tool",
    "</tool",
    "<assistant",
    "</assistant",
    "<user_query",
    "</user_query",
)
"""Beginnings of control tags: text that holds one could be taken for something else than a summary.
They are prefixes, so `<tools>` is refused too (OpenWork's list and behaviour)."""

MIN_SUMMARY_CHARS = 500
"""Code points, root tags included; a summary with less leaves sections out (OpenWork's number)."""

NO_TEXT = "the response had no text"

UNUSABLE_PREFIX = "compaction response was not usable: "
"""Begins the full sentence of every rejection."""

_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_HEADING_MARK = "## "
_EMPTY_MARKS = " -*_`()[]."
"""What models put around a `None`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryAccepted:
    """A usable summary, from its open root to its close root."""

    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRejected:
    """An unusable answer and what is wrong with it."""

    reason: str

    @property
    def detail(self) -> str:
        """The reason as a full sentence."""
        return UNUSABLE_PREFIX + self.reason


SummaryCheck: TypeAlias = SummaryAccepted | SummaryRejected


def check_summary(text: str, finish_reason: str | None, tool_calls: int) -> SummaryCheck:
    """The summary in a model's answer, or the first thing that is wrong with the answer.

    Args:
        text: All text of the answer. What stands before the root is dropped.
        finish_reason: Why the model stopped; None counts as `stop`.
        tool_calls: How many calls the answer asks for.
    """
    fault = _response_fault(finish_reason, tool_calls) or _root_fault(text)
    if fault is not None:
        return SummaryRejected(reason=fault)
    summary = trim(text[text.index(OPEN_ROOT) :])
    fault = _content_fault(summary)
    if fault is not None:
        return SummaryRejected(reason=fault)
    return SummaryAccepted(summary=summary)


def check_text(text: str) -> SummaryCheck:
    """Any text that is not blank, as it is."""
    return SummaryRejected(reason=NO_TEXT) if is_blank(text) else SummaryAccepted(summary=text)


def _response_fault(finish_reason: str | None, tool_calls: int) -> str | None:
    if tool_calls > 0:
        return "the response requested a tool call"
    if finish_reason not in (None, "stop"):
        return f"finish reason was {finish_reason}"
    return None


def _root_fault(text: str) -> str | None:
    _, opened, rest = text.partition(OPEN_ROOT)
    if not opened:
        return "missing conversation_summary root"
    if OPEN_ROOT in rest or rest.count(CLOSE_ROOT) != 1:
        return "conversation_summary must have exactly one root"
    if not is_blank(rest.partition(CLOSE_ROOT)[2]):
        return "unexpected content after conversation_summary root"
    return None


def _content_fault(summary: str) -> str | None:
    body = summary[len(OPEN_ROOT) : -len(CLOSE_ROOT)]
    # Trimming takes the CR of a CRLF away, so splitting on LF is enough.
    lines = [line for line in map(trim, body.split("\n")) if line]
    return (
        _tag_fault(body)
        or _heading_fault(lines)
        or _preamble_fault(lines)
        or _count_fault(lines)
        or _empty_section_fault(lines)
        or _length_fault(summary)
        or _nothing_said_fault(lines)
    )


def _tag_fault(body: str) -> str | None:
    # Only ASCII letters are lowered: full case folding would find tags that no reader sees.
    lowered = body.translate(_ASCII_LOWER)
    tag = next((tag for tag in FORBIDDEN_TAGS if tag in lowered), None)
    return None if tag is None else f"summary contained forbidden control tag {tag}"


def _heading_fault(lines: Sequence[str]) -> str | None:
    for number, heading in enumerate(filter(_is_heading, lines)):
        if number == len(HEADINGS):
            return "summary contained more than nine headings"
        if heading != HEADINGS[number]:
            return (
                "summary heading was missing, unknown, or out of order; "
                f"expected: {HEADINGS[number]}"
            )
    return None


def _preamble_fault(lines: Sequence[str]) -> str | None:
    if lines and not _is_heading(lines[0]):
        return "summary contained content before the first heading"
    return None


def _count_fault(lines: Sequence[str]) -> str | None:
    count = sum(map(_is_heading, lines))
    if count < len(HEADINGS):
        return f"summary contained {count} of {len(HEADINGS)} required headings"
    return None


def _empty_section_fault(lines: Sequence[str]) -> str | None:
    for line, following in zip(lines, (*lines[1:], _HEADING_MARK), strict=True):
        if _is_heading(line) and _is_heading(following):
            return f"summary section had no content: {line}"
    return None


def _length_fault(summary: str) -> str | None:
    if len(summary) < MIN_SUMMARY_CHARS:
        return f"summary was shorter than {MIN_SUMMARY_CHARS} characters"
    return None


def _nothing_said_fault(lines: Sequence[str]) -> str | None:
    if all(_is_heading(line) or _says_none(line) for line in lines):
        return "summary had nothing but None in every section"
    return None


def _is_heading(line: str) -> bool:
    return line.startswith(_HEADING_MARK)


def _says_none(line: str) -> bool:
    """Whether `None` is all that a line says, whatever marks and brackets stand around it."""
    return line.strip(_EMPTY_MARKS).translate(_ASCII_LOWER) == "none"
