"""Turns: one user request to its end, worked on under a lease.

Source: docs/semantics/turns.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from app.core.errors import ContextError

TurnStatus: TypeAlias = Literal["unknown", "running", "completed", "failed", "cancelled"]

DEFAULT_LEASE_SECONDS = 120
"""How long a running turn blocks others after the last sign of its worker."""

_FINAL: frozenset[TurnStatus] = frozenset({"completed", "failed", "cancelled"})


class TurnActive(ContextError):
    """Another turn of the session is running."""

    code = "turn_active"


class TurnClosed(ContextError):
    """The turn has ended, and an end is final."""

    code = "turn_closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of a session. One that was only ever named is `unknown`."""

    id: str
    ordinal: int
    status: TurnStatus
    owner: str | None
    lease_seconds: int
    lease_expires_at: datetime | None
    plan: Mapping[str, object] | None
    model_call: int | None
    """Of its last prepare."""
    sample: int | None
    decided_call: int | None = None
    """The first call for which it was decided whether to compact; None where nobody asked."""
    created_at: datetime
    updated_at: datetime

    @property
    def has_ended(self) -> bool:
        """Whether nothing about the turn changes any more."""
        return self.status in _FINAL

    def is_live(self, now: datetime) -> bool:
        """Whether a worker holds the turn: running, and its lease has not lapsed."""
        return (
            self.status == "running"
            and self.lease_expires_at is not None
            and self.lease_expires_at > now
        )

    def is_gone(self, now: datetime) -> bool:
        """Whether no worker will ever finish the turn's tool calls."""
        if self.status == "running":
            return not self.is_live(now)
        return self.status in ("failed", "cancelled")


def refuse_reopening(turn: Turn, status: TurnStatus) -> None:
    """Refuse to change a turn that has ended.

    Raises:
        TurnClosed: Its status is final and another one.
    """
    if turn.has_ended and turn.status != status:
        raise TurnClosed(
            f"turn {turn.id!r} is {turn.status}, which is final",
            turn_id=turn.id,
            status=turn.status,
        )
