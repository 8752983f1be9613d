"""The turn's plan: kept by the caller, so that a summary cannot lose or reopen a step.

Source: docs/semantics/compaction.md#the-turns-plan.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from app.compaction.errors import StateError
from app.compaction.reading import list_of, object_of, refuse_other_fields, text_of
from app.compaction.reminder import Section
from app.compaction.runtime_state import Extension, RuntimeState
from app.core.content import JsonObject
from app.core.text import is_blank

TURN_PLAN_KEY = "turn_plan"
TURN_PLAN_SCHEMA_VERSION = 1

StepStatus: TypeAlias = Literal["pending", "in_progress", "completed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A step and how far it is."""

    step: str
    status: StepStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlan:
    """The plan of a running turn."""

    explanation: str | None
    steps: tuple[PlanStep, ...]


EMPTY_PLAN = TurnPlan(explanation=None, steps=())
"""Of a turn that has none. It overwrites the plan of an earlier turn."""


def plan_from_json(value: object) -> TurnPlan:
    """The plan of JSON; an absent explanation is none, absent steps are none.

    Raises:
        StateError: It is no plan.
    """
    fields = object_of(value, "turn plan")
    refuse_other_fields(fields, ("explanation", "steps"), "turn plan")
    explanation = fields.get("explanation")
    return TurnPlan(
        explanation=None if explanation is None else text_of(explanation, "explanation"),
        steps=tuple(_step(step) for step in list_of(fields.get("steps", []), "steps")),
    )


def plan_json(plan: TurnPlan) -> JsonObject:
    """A plan as JSON."""
    return {
        "explanation": plan.explanation,
        "steps": [{"step": step.step, "status": step.status} for step in plan.steps],
    }


def with_plan(state: RuntimeState, plan: TurnPlan | None) -> RuntimeState:
    """The state with the plan of the running turn; without a turn, the state as it is."""
    if plan is None:
        return state
    return state.with_extension(
        Extension(key=TURN_PLAN_KEY, schema_version=TURN_PLAN_SCHEMA_VERSION, value=plan_json(plan))
    )


def plan_section(state: RuntimeState) -> Section:
    """The plan for the reminder; without steps it has no lines.

    Raises:
        StateError: The plan cannot be read.
    """
    plan = _stored_plan(state)
    explanation = plan.explanation or ""
    lines = tuple(f"- [{step.status}] {step.step}" for step in plan.steps)
    if lines and not is_blank(explanation):
        lines = (explanation, *lines)
    return Section(title="Current plan", lines=lines)


def _stored_plan(state: RuntimeState) -> TurnPlan:
    kept = state.extension(TURN_PLAN_KEY)
    if kept is None:
        return EMPTY_PLAN
    if kept.schema_version != TURN_PLAN_SCHEMA_VERSION:
        raise StateError(f"unsupported turn_plan schema version: {kept.schema_version}")
    return plan_from_json(kept.value)


def _step(value: object) -> PlanStep:
    fields = object_of(value, "step")
    refuse_other_fields(fields, ("step", "status"), "step")
    status = text_of(fields.get("status"), "status")
    if status not in get_args(StepStatus):
        raise StateError(f"unknown status of a step: {status}", key="status")
    # It was compared with every status that there is.
    return PlanStep(step=text_of(fields.get("step"), "step"), status=cast("StepStatus", status))
