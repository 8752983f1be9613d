"""Short ways to say what a compaction finds in a session."""

from app.compaction.contributors import Evidence
from app.compaction.file_changes import FILE_CHANGE_KIND
from app.compaction.turn_plan import PlanStep, StepStatus, TurnPlan
from app.core.blocks import Artifact


def change(path: str) -> Artifact:
    return Artifact(kind=FILE_CHANGE_KIND, payload={"path": path, "undone": False})


def undone(path: str) -> Artifact:
    return Artifact(kind=FILE_CHANGE_KIND, payload={"path": path, "undone": True})


def plan(*steps: tuple[str, StepStatus], explanation: str | None = None) -> TurnPlan:
    return TurnPlan(
        explanation=explanation,
        steps=tuple(PlanStep(step=step, status=status) for step, status in steps),
    )


def evidence(*artifacts: Artifact, plan: TurnPlan | None = None) -> Evidence:
    return Evidence(artifacts=artifacts, plan=plan)
