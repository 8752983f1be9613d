"""Turns on the wire."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from app.api.answers import Answer
from app.api.validation import WireModel
from app.core.turns import Turn, TurnStatus
from app.services.turns import TurnChange


class StepIn(WireModel):
    """A step of a plan."""

    step: str
    status: Literal["pending", "in_progress", "completed"]


class PlanIn(WireModel):
    """What a turn means to do."""

    explanation: str | None = None
    steps: list[StepIn]


class TurnIn(WireModel):
    """What a worker says of its turn."""

    status: Literal["running", "completed", "failed", "cancelled"]
    owner: str | None = None
    lease_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    plan: PlanIn | None = None

    def change(self) -> TurnChange:
        """The change as the services take it."""
        return TurnChange(
            status=self.status,
            owner=self.owner,
            lease_seconds=self.lease_seconds,
            plan=None if self.plan is None else self.plan.model_dump(),
        )


class TurnOut(BaseModel):
    """A turn of a session."""

    id: str
    status: TurnStatus
    owner: str | None
    lease_seconds: int
    lease_expires_at: str | None
    plan: dict[str, Any] | None
    model_call: int | None
    sample: int | None
    created_at: str
    updated_at: str


class TurnPageOut(BaseModel):
    """A page of turns."""

    items: list[TurnOut]
    next_cursor: str | None


def turn_answer(turn: Turn) -> Answer:
    """A turn as answers have it."""
    expires = turn.lease_expires_at
    return {
        "id": turn.id,
        "status": turn.status,
        "owner": turn.owner,
        "lease_seconds": turn.lease_seconds,
        "lease_expires_at": None if expires is None else expires.isoformat(),
        "plan": turn.plan,
        "model_call": turn.model_call,
        "sample": turn.sample,
        "created_at": turn.created_at.isoformat(),
        "updated_at": turn.updated_at.isoformat(),
    }
