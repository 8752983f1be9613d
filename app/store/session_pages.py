"""Lists of sessions, by the columns that a prepare left on their rows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from app.core.budget import BudgetState
from app.core.stored import Session
from app.store.connections import ReadConnection
from app.store.messages import Order
from app.store.sessions import session_of
from app.store.tables import sessions

Sort: TypeAlias = Literal["created_at", "updated_at", "used_percent"]
Position: TypeAlias = tuple[datetime | float, str]
"""The sort value and the id of the last session of a page."""

_NEVER_PREPARED_PERCENT = -1.0
"""Sorts sessions without a prepared call below all others."""

_SORT_COLUMNS: dict[Sort, ColumnElement[datetime] | ColumnElement[float]] = {
    "created_at": sessions.c.created_at,
    "updated_at": sessions.c.updated_at,
    "used_percent": func.coalesce(sessions.c.used_percent, _NEVER_PREPARED_PERCENT),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilter:
    """Which sessions a page lists. None: all of them."""

    model: str | None = None
    policy: str | None = None
    state: BudgetState | None = None
    min_used_percent: float | None = None
    parent_session_id: str | None = None
    q: str | None = None
    """A part of the session's id."""


async def session_page(
    connection: ReadConnection,
    wanted: SessionFilter,
    sort: Sort,
    order: Order,
    after: Position | None,
    limit: int,
) -> list[Session]:
    """Up to `limit` sessions of a filter that come after a position."""
    column = _SORT_COLUMNS[sort]
    statement = select(sessions).where(*_conditions(wanted)).limit(limit)
    if after is not None:
        statement = statement.where(_beyond(column, order, after))
    rows = await connection.execute(_ordered(statement, column, order))
    return [session_of(row) for row in rows]


def position_of(session: Session, sort: Sort) -> Position:
    """Where a session stands in a list of that sort."""
    match sort:
        case "created_at":
            return session.created_at, session.id
        case "updated_at":
            return session.updated_at, session.id
        case "used_percent":
            percent = session.used_percent
            return _NEVER_PREPARED_PERCENT if percent is None else percent, session.id


def _beyond(
    column: ColumnElement[datetime] | ColumnElement[float], order: Order, after: Position
) -> ColumnElement[bool]:
    value, session_id = after
    if order == "asc":
        return or_(column > value, and_(column == value, sessions.c.id > session_id))
    return or_(column < value, and_(column == value, sessions.c.id < session_id))


def _ordered(
    statement: Select[tuple[object, ...]],
    column: ColumnElement[datetime] | ColumnElement[float],
    order: Order,
) -> Select[tuple[object, ...]]:
    if order == "asc":
        return statement.order_by(column, sessions.c.id)
    return statement.order_by(column.desc(), sessions.c.id.desc())


def _conditions(wanted: SessionFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.model is not None:
        conditions.append(sessions.c.model == wanted.model)
    if wanted.policy is not None:
        conditions.append(sessions.c.preset == wanted.policy)
    if wanted.state is not None:
        conditions.append(sessions.c.state == wanted.state)
    if wanted.min_used_percent is not None:
        conditions.append(sessions.c.used_percent >= wanted.min_used_percent)
    if wanted.parent_session_id is not None:
        conditions.append(sessions.c.parent_session_id == wanted.parent_session_id)
    if wanted.q is not None:
        conditions.append(sessions.c.id.contains(wanted.q, autoescape=True))
    return conditions
