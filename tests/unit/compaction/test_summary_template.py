import pytest

from app.compaction.structured_summary import StructuredSummary, SummaryFile
from app.compaction.summary_template import (
    DEFAULT_TEMPLATE,
    is_well_formed,
    rendered_summary,
    summary_text,
)
from tests.requirements import requirement

HEAD = "# Conversation Summary\n\n"
FILES = f"{HEAD}## Files + Code\n"
ANSWER = '<analysis>hm</analysis>{"next_step":"go","notes":["x",1]}'
EVERYTHING = StructuredSummary(
    user_intent=("a", "b"),
    technical_concepts=("c",),
    files=(SummaryFile(path="f", summary="s", key_code=None),),
    errors_and_fixes=("e",),
    problem_solving=("p",),
    user_messages=("u",),
    pending_tasks=("t",),
    current_work="w",
    next_step="n",
)


def with_files(*files: tuple[str, str, str | None], **more: tuple[str, ...]) -> StructuredSummary:
    made = tuple(SummaryFile(path=path, summary=text, key_code=code) for path, text, code in files)
    return StructuredSummary(files=made, errors_and_fixes=more.get("errors", ()))


RENDERED = [
    pytest.param(
        StructuredSummary(user_intent=("Fix the bug",)),
        f"{HEAD}## User Intent\n- Fix the bug",
        id="R1",
    ),
    pytest.param(
        with_files(("a.rs", "Patched", "fn a() {}\n"), errors=("E",)),
        f"{FILES}### a.rs\nPatched\n```\nfn a() {{}}\n```\n\n## Errors + Fixes\n- E",
        id="R3",
    ),
    pytest.param(
        with_files(("src/parser.rs", "", None), ("", "S", None)),
        f"{FILES}### src/parser.rs\n\n\nS",
        id="R4",
    ),
    pytest.param(
        with_files(("a", "S", "x\n```\ny\n```")),
        f"{FILES}### a\nS\n````\nx\n```\ny\n```\n````",
        id="R5",
    ),
    pytest.param(
        with_files(("a", "", None), errors=("E",)),
        f"{FILES}### a\n\n\n## Errors + Fixes\n- E",
        id="a last file without a summary keeps its line",
    ),
    pytest.param(
        EVERYTHING,
        f"{HEAD}## User Intent\n- a\n- b\n\n## Technical Concepts\n- c\n"
        "\n## Files + Code\n### f\ns\n"
        "\n## Errors + Fixes\n- e\n\n## Problem Solving\n- p\n\n## User Messages\n- u\n"
        "\n## Pending Tasks\n- t\n\n## Current Work\nw\n\n## Next Step\nn",
        id="the order of the sections",
    ),
]
OWN = [
    pytest.param("Next: {{next_step}}.", "Next: go.", id="a field"),
    pytest.param("{{#notes}}Notes: {{notes}}{{/notes}}", "Notes: x; 1", id="an unknown key"),
    pytest.param("{{nothing}}{{next_step}}", "go", id="a name without a value"),
    pytest.param("a{{#user_intent}}b{{/user_intent}}c", "ac", id="a section without a value"),
    pytest.param(
        "{{#next_step}}{{#notes}}both{{/notes}}{{/next_step}}", "both", id="a section in a section"
    ),
    pytest.param("{{#next_step}}a", ANSWER, id="a section that does not close"),
    pytest.param("a{{/next_step}}", ANSWER, id="a section that does not open"),
    pytest.param(
        "{{#next_step}}{{#notes}}{{/next_step}}{{/notes}}", ANSWER, id="sections that cross"
    ),
    pytest.param("{{user_intent}} \n", ANSWER, id="a template that says nothing"),
]


@pytest.mark.parametrize(("summary", "text"), RENDERED)
def test_a_summary_has_its_sections_in_order(summary: StructuredSummary, text: str) -> None:
    assert rendered_summary(summary) == text


@pytest.mark.parametrize(("template", "text"), OWN)
def test_a_template_may_be_replaced(template: str, text: str) -> None:
    assert summary_text(ANSWER, template) == text


@requirement("GO-7.4-summary-holds-decision-state")
def test_a_summary_that_can_be_read_takes_the_place_of_the_answer() -> None:
    assert summary_text(ANSWER) == f"{HEAD}## Next Step\ngo"


def test_what_is_put_in_is_not_read_again() -> None:
    summary = StructuredSummary(current_work="{{next_step}}{{/x}}", next_step="n")

    assert rendered_summary(summary, "{{current_work}}") == "{{next_step}}{{/x}}"


def test_the_default_template_is_well_formed() -> None:
    assert is_well_formed(DEFAULT_TEMPLATE)
