"""Templates of a summary: text with the names of fields in it, which a user may replace.

`{{name}}` is the field's text. `{{#name}}` to `{{/name}}` is there only
where the field says something. Names that a summary has no field for are
looked up among what else the model's object had.

Source: docs/semantics/goose.md#the-template.
"""

import re
from collections.abc import Mapping

from app.compaction.structured_summary import (
    StructuredSummary,
    SummaryFile,
    plain_text,
    read_summary,
)
from app.core.text import is_blank, trim

_SECTIONS = (
    ("user_intent", "User Intent"),
    ("technical_concepts", "Technical Concepts"),
    ("files", "Files + Code"),
    ("errors_and_fixes", "Errors + Fixes"),
    ("problem_solving", "Problem Solving"),
    ("user_messages", "User Messages"),
    ("pending_tasks", "Pending Tasks"),
    ("current_work", "Current Work"),
    ("next_step", "Next Step"),
)

DEFAULT_TEMPLATE = "# Conversation Summary\n\n" + "".join(
    f"{{{{#{name}}}}}## {heading}\n{{{{{name}}}}}\n\n{{{{/{name}}}}}" for name, heading in _SECTIONS
)
"""goose's headings. A section ends with a blank line."""

_BLOCK = re.compile(r"\{\{#(\w+)\}\}(.*?)\{\{/\1\}\}", re.DOTALL)
_NAME = re.compile(r"\{\{(\w+)\}\}")
_SECTION_MARK = re.compile(r"\{\{[#/]")
_BACKTICKS = re.compile(r"`+")


def summary_text(answer: str, template: str = DEFAULT_TEMPLATE) -> str:
    """The text that is kept of a model's answer.

    That is the summary in it by the template. Where there is none, and where
    the template is at fault or says nothing, it is the answer itself.
    """
    summary = read_summary(answer)
    rendered = None if summary is None else rendered_summary(summary, template)
    return answer if rendered is None or is_blank(rendered) else rendered


def rendered_summary(summary: StructuredSummary, template: str = DEFAULT_TEMPLATE) -> str | None:
    """A summary by a template, trimmed; None where a section of the template is not closed."""
    return trim(_filled(template, _values(summary))) if is_well_formed(template) else None


def is_well_formed(template: str) -> bool:
    """Whether every section ends, and within the one in which it began."""
    if _SECTION_MARK.search(_BLOCK.sub("", template)):
        return False
    return all(is_well_formed(block[2]) for block in _BLOCK.finditer(template))


def _filled(template: str, values: Mapping[str, str]) -> str:
    """The template with everything put in; what is put in is not read again."""
    filled: list[str] = []
    end = 0
    for block in _BLOCK.finditer(template):
        filled.append(_named(template[end : block.start()], values))
        if not is_blank(values.get(block[1], "")):
            filled.append(_filled(block[2], values))
        end = block.end()
    filled.append(_named(template[end:], values))
    return "".join(filled)


def _named(text: str, values: Mapping[str, str]) -> str:
    return _NAME.sub(lambda found: values.get(found[1], ""), text)


def _values(summary: StructuredSummary) -> dict[str, str]:
    """The text of every field; absent ones are empty."""
    return {
        **{key: plain_text(value) for key, value in summary.extra.items()},
        "user_intent": _list(summary.user_intent),
        "technical_concepts": _list(summary.technical_concepts),
        "files": "\n".join(map(_file, summary.files)).removesuffix("\n"),
        "errors_and_fixes": _list(summary.errors_and_fixes),
        "problem_solving": _list(summary.problem_solving),
        "user_messages": _list(summary.user_messages),
        "pending_tasks": _list(summary.pending_tasks),
        "current_work": summary.current_work or "",
        "next_step": summary.next_step or "",
    }


def _list(items: tuple[str, ...]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _file(file: SummaryFile) -> str:
    """The lines of a file: that of its summary stands also where it is empty."""
    heading = f"### {file.path}\n" if file.path else ""
    code = "" if file.key_code is None else f"{_fenced(file.key_code)}\n"
    return f"{heading}{file.summary}\n{code}"


def _fenced(code: str) -> str:
    """Code in a fence that nothing in it can close."""
    longest = max((len(run[0]) for run in _BACKTICKS.finditer(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code.rstrip(chr(10))}\n{fence}"
