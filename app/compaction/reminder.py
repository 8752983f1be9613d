"""The reminder: the runtime state as text, behind the summary in every request.

Source: docs/semantics/compaction.md#the-reminder.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.compaction.errors import StateError
from app.core.text import WHITE_SPACE, escape_markup, is_blank, is_control, trim

OPEN_REMINDER = '<system_reminder format_version="1">'
CLOSE_REMINDER = "</system_reminder>"
NOTHING_RECORDED = "No additional durable runtime state was recorded at compaction time."

MAX_REMINDER_CHARS = 32_768
"""Code points, tags included: a reminder is in every request (OpenWork's number)."""

_ALLOWED_CONTROLS = frozenset("\n\r\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A titled list of lines, neither of them escaped yet."""

    title: str
    lines: tuple[str, ...]


def render_reminder(sections: Sequence[Section]) -> str:
    """The reminder of some sections, those without lines left out.

    Raises:
        StateError: It is too long.
    """
    told = [section for section in sections if section.lines]
    body = "\n".join(map(_rendered, told)) if told else f"{NOTHING_RECORDED}\n"
    reminder = f"{OPEN_REMINDER}\n{body}{CLOSE_REMINDER}"
    check_reminder(reminder)
    return reminder


def check_reminder(reminder: str) -> None:
    """Refuse a text that is not exactly one reminder.

    Raises:
        StateError: Its first fault.
    """
    fault = _fault(reminder)
    if fault is not None:
        raise StateError(f"runtime reminder {fault}", key="runtime_reminder")


def _rendered(section: Section) -> str:
    lines = (f"## {escape_markup(trim(section.title))}", *map(_rendered_line, section.lines))
    return "".join(f"{line}\n" for line in lines)


def _rendered_line(line: str) -> str:
    return escape_markup(line.rstrip(WHITE_SPACE))


def _fault(reminder: str) -> str | None:
    if len(reminder) > MAX_REMINDER_CHARS:
        return f"exceeded {MAX_REMINDER_CHARS} characters"
    if trim(reminder) != reminder:
        return "has white space around it"
    if not _is_one_block(reminder):
        return "must be exactly one system_reminder block"
    if is_blank(reminder[len(OPEN_REMINDER) : -len(CLOSE_REMINDER)]):
        return "has a blank body"
    if any(is_control(character) for character in set(reminder) - _ALLOWED_CONTROLS):
        return "holds a control character"
    return None


def _is_one_block(reminder: str) -> bool:
    return (
        reminder.startswith(OPEN_REMINDER)
        and reminder.endswith(CLOSE_REMINDER)
        and reminder.count(OPEN_REMINDER) == reminder.count(CLOSE_REMINDER) == 1
    )
