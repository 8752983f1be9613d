"""Turns: a lease that lapses, and an end that is final."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.core.turns import (
    DEFAULT_LEASE_SECONDS,
    Turn,
    TurnClosed,
    TurnStatus,
    refuse_reopening,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
RUNNING = Turn(
    id="t",
    ordinal=1,
    status="running",
    owner="worker-1",
    lease_seconds=DEFAULT_LEASE_SECONDS,
    lease_expires_at=NOON + timedelta(seconds=DEFAULT_LEASE_SECONDS),
    plan=None,
    model_call=None,
    sample=None,
    created_at=NOON,
    updated_at=NOON,
)


def in_status(status: TurnStatus) -> Turn:
    return (
        RUNNING if status == "running" else replace(RUNNING, status=status, lease_expires_at=None)
    )


@pytest.mark.parametrize(
    ("seconds", "live"), [(0, True), (119, True), (120, False), (1_000, False)]
)
def test_a_running_turn_is_live_until_its_lease_lapses(seconds: int, live: bool) -> None:
    now = NOON + timedelta(seconds=seconds)

    assert RUNNING.is_live(now) is live
    assert RUNNING.is_gone(now) is not live


@pytest.mark.parametrize(
    ("status", "gone"),
    [("unknown", False), ("completed", False), ("failed", True), ("cancelled", True)],
)
def test_only_a_turn_that_broke_off_leaves_its_calls_behind(status: TurnStatus, gone: bool) -> None:
    turn = in_status(status)

    assert turn.is_live(NOON) is False
    assert turn.is_gone(NOON) is gone


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize("wanted", ["running", "completed", "failed", "cancelled"])
def test_an_end_is_final_and_may_be_said_again(status: TurnStatus, wanted: TurnStatus) -> None:
    turn = in_status(status)
    if wanted == status:
        refuse_reopening(turn, wanted)
        return
    with pytest.raises(TurnClosed) as refused:
        refuse_reopening(turn, wanted)

    assert refused.value.detail == f"turn 't' is {status}, which is final"
    assert refused.value.details == {"turn_id": "t", "status": status}


@pytest.mark.parametrize("status", ["unknown", "running"])
@pytest.mark.parametrize("wanted", ["running", "completed", "failed", "cancelled"])
def test_a_turn_that_has_not_ended_may_become_anything(
    status: TurnStatus, wanted: TurnStatus
) -> None:
    turn = in_status(status)
    refuse_reopening(turn, wanted)

    assert turn.has_ended is False
