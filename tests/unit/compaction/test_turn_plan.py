import pytest

from app.compaction.errors import StateError
from app.compaction.reminder import Section
from app.compaction.runtime_state import EMPTY_STATE, Extension, RuntimeState
from app.compaction.turn_plan import (
    EMPTY_PLAN,
    plan_from_json,
    plan_json,
    plan_section,
    with_plan,
)
from tests.requirements import requirement
from tests.unit.compaction.evidence import plan

WORKING = plan(
    ("read", "completed"),
    ("write", "in_progress"),
    ("test", "pending"),
    explanation="scoping the work",
)
WORKING_JSON = {
    "explanation": "scoping the work",
    "steps": [
        {"step": "read", "status": "completed"},
        {"step": "write", "status": "in_progress"},
        {"step": "test", "status": "pending"},
    ],
}


def state_with(value: object, *, schema_version: int = 1) -> RuntimeState:
    return EMPTY_STATE.with_extension(
        Extension(key="turn_plan", schema_version=schema_version, value=value)
    )


def test_a_plan_goes_to_json_and_back() -> None:
    assert plan_json(WORKING) == WORKING_JSON
    assert plan_from_json(WORKING_JSON) == WORKING


@pytest.mark.parametrize("value", [{}, {"explanation": None, "steps": []}])
def test_an_absent_explanation_and_absent_steps_are_none(value: object) -> None:
    assert plan_from_json(value) == EMPTY_PLAN


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "turn plan is not a JSON object"),
        ({"title": "x"}, "turn plan has an unknown field: title"),
        ({"explanation": 7}, "explanation is not a JSON string"),
        ({"steps": {}}, "steps is not a JSON array"),
        ({"steps": ["read"]}, "step is not a JSON object"),
        ({"steps": [{"status": "pending"}]}, "step is not a JSON string"),
        ({"steps": [{"step": "read"}]}, "status is not a JSON string"),
        ({"steps": [{"step": "read", "status": "done"}]}, "unknown status of a step: done"),
        (
            {"steps": [{"step": "read", "status": "pending", "x": 1, "owner": "me"}]},
            "step has an unknown field: owner",
        ),
    ],
)
def test_what_is_no_plan_is_refused(value: object, message: str) -> None:
    with pytest.raises(StateError) as refused:
        plan_from_json(value)

    assert refused.value.detail == message


def test_the_plan_of_a_turn_is_stored_under_its_key() -> None:
    assert with_plan(EMPTY_STATE, WORKING) == state_with(WORKING_JSON)


def test_an_empty_plan_overwrites_the_stored_one() -> None:
    assert with_plan(state_with(WORKING_JSON), EMPTY_PLAN) == state_with(
        {"explanation": None, "steps": []}
    )


def test_without_a_turn_the_stored_plan_carries_over() -> None:
    stored = state_with(WORKING_JSON)

    assert with_plan(stored, None) is stored


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (state_with({}, schema_version=2), "unsupported turn_plan schema version: 2"),
        (state_with([]), "turn plan is not a JSON object"),
    ],
)
def test_a_stored_plan_that_cannot_be_read_is_refused(state: RuntimeState, message: str) -> None:
    with pytest.raises(StateError) as refused:
        plan_section(state)

    assert refused.value.detail == message


@requirement("OW-9-plan-in-the-reminder")
def test_K33_the_section_has_the_explanation_and_the_steps() -> None:
    assert plan_section(state_with(WORKING_JSON)) == Section(
        title="Current plan",
        lines=(
            "scoping the work",
            "- [completed] read",
            "- [in_progress] write",
            "- [pending] test",
        ),
    )


@pytest.mark.parametrize("explanation", [None, "", " \t", "\u2028"])
def test_a_blank_explanation_is_left_out(explanation: str | None) -> None:
    state = with_plan(EMPTY_STATE, plan(("read", "pending"), explanation=explanation))

    assert plan_section(state).lines == ("- [pending] read",)


@pytest.mark.parametrize("state", [EMPTY_STATE, state_with({"explanation": "why", "steps": []})])
def test_without_steps_the_section_has_no_lines(state: RuntimeState) -> None:
    assert plan_section(state) == Section(title="Current plan", lines=())
