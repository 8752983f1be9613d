"""Turns of a session: who works on it, and until when that blocks others."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.core.ids import check_key
from app.core.stored import Session
from app.core.turns import DEFAULT_LEASE_SECONDS, Turn, TurnActive, TurnStatus, refuse_reopening
from app.services.resources import Resources
from app.store.connections import ReadConnection, WriteConnection
from app.store.messages import Order
from app.store.sessions import SessionRepository, SessionWriter
from app.store.turns import TurnRepository, TurnWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnChange:
    """What a worker says of its turn. None leaves a field as it is."""

    status: TurnStatus
    owner: str | None
    lease_seconds: int | None
    plan: Mapping[str, object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPoint:
    """Where in a turn a call of the worker stands."""

    turn_id: str
    model_call: int | None
    sample: int | None


async def put_turn(resources: Resources, session_id: str, turn_id: str, change: TurnChange) -> Turn:
    """Begin, renew or end a turn.

    Raises:
        SessionNotFound: There is no such session.
        TurnActive: Another turn is running and its lease has not lapsed.
        TurnClosed: The turn has ended.
    """
    check_key(turn_id, "turn_id")
    now = resources.now()
    async with resources.database.writing() as connection:
        sessions = SessionWriter(connection)
        session = await sessions.lock(session_id)
        turns = TurnWriter(connection, session.incarnation)
        before = await turns.find(turn_id) or await _new_turn(turns, turn_id, now)
        refuse_reopening(before, change.status)
        if before.has_ended:
            return before
        if change.status == "running":
            await refuse_other_turn(turns, turn_id, now)
        turn = _changed(before, change, now)
        await turns.save(turn)
        if change.status == "running" and session.current_turn_id != turn_id:
            await sessions.save(
                replace(
                    session,
                    current_turn_id=turn_id,
                    version=session.version + 1,
                    updated_at=now,
                )
            )
    return turn


async def list_turns(
    resources: Resources, session_id: str, order: Order, after: int | None, limit: int
) -> list[Turn]:
    """Up to `limit` turns that come after an ordinal.

    Raises:
        SessionNotFound: There is no such session.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        turns = TurnRepository(connection, session.incarnation)
        return await turns.page(order, after, limit)


async def refuse_other_turn(turns: TurnRepository, turn_id: str | None, now: datetime) -> None:
    """Refuse where a turn other than `turn_id` is live.

    Raises:
        TurnActive: Names the turn and when its lease lapses.
    """
    for turn in await turns.running():
        if turn.id != turn_id and turn.is_live(now):
            raise TurnActive(
                f"turn {turn.id!r} is running",
                turn_id=turn.id,
                lease_expires_at=None
                if turn.lease_expires_at is None
                else turn.lease_expires_at.isoformat(),
            )


async def touch_turn(
    connection: WriteConnection, session: Session, point: TurnPoint, now: datetime
) -> Turn:
    """Record a sign of life: a turn never put is `unknown`, a running one keeps its lease.

    A lease that has lapsed comes back only while no other turn is live.
    """
    turns = TurnWriter(connection, session.incarnation)
    before = await turns.find(point.turn_id)
    turn = touched(before or await _new_turn(turns, point.turn_id, now), point, now)
    if before is not None and turn.is_live(now) and not before.is_live(now):
        others = [other for other in await turns.running() if other.id != turn.id]
        if any(other.is_live(now) for other in others):
            turn = replace(turn, lease_expires_at=before.lease_expires_at)
    if turn != before:
        await turns.save(turn)
    return turn


async def is_settled(
    connection: ReadConnection, session: Session, point: TurnPoint, now: datetime
) -> bool:
    """Whether touching the turn would store nothing that matters.

    A lease is renewed once half of it is gone, not at every call.
    """
    turn = await TurnRepository(connection, session.incarnation).find(point.turn_id)
    if turn is None:
        return False
    renewed = touched(turn, point, now)
    same_point = (renewed.model_call, renewed.sample) == (turn.model_call, turn.sample)
    half = timedelta(seconds=turn.lease_seconds / 2)
    expires = turn.lease_expires_at
    return same_point and (
        turn.status != "running" or (expires is not None and expires - now > half)
    )


def touched(turn: Turn, point: TurnPoint, now: datetime) -> Turn:
    """The turn after a sign of life of its worker."""
    model_call = turn.model_call if point.model_call is None else point.model_call
    sample = turn.sample if point.sample is None else point.sample
    if turn.status != "running":
        return replace(turn, model_call=model_call, sample=sample, updated_at=now)
    return replace(
        turn,
        model_call=model_call,
        sample=sample,
        lease_expires_at=now + timedelta(seconds=turn.lease_seconds),
        updated_at=now,
    )


async def _new_turn(turns: TurnWriter, turn_id: str, now: datetime) -> Turn:
    return Turn(
        id=turn_id,
        ordinal=await turns.next_ordinal(),
        status="unknown",
        owner=None,
        lease_seconds=DEFAULT_LEASE_SECONDS,
        lease_expires_at=None,
        plan=None,
        model_call=None,
        sample=None,
        created_at=now,
        updated_at=now,
    )


def _changed(turn: Turn, change: TurnChange, now: datetime) -> Turn:
    seconds = turn.lease_seconds if change.lease_seconds is None else change.lease_seconds
    running = change.status == "running"
    return replace(
        turn,
        status=change.status,
        owner=turn.owner if change.owner is None else change.owner,
        lease_seconds=seconds,
        lease_expires_at=now + timedelta(seconds=seconds) if running else None,
        plan=turn.plan if change.plan is None else change.plan,
        updated_at=now,
    )
