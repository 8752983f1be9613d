"""Turns of a session."""

from typing import Any, cast

from sqlalchemy import Row, func, select
from sqlalchemy.dialects import postgresql, sqlite

from app.core import canonical
from app.core.turns import Turn
from app.store.connections import ReadConnection, WriteConnection
from app.store.messages import Order
from app.store.tables import turns


class TurnRepository:
    """Reads of one session's turns."""

    def __init__(self, connection: ReadConnection, incarnation: str) -> None:
        self._connection = connection
        self._incarnation = incarnation
        self._mine = turns.c.incarnation == incarnation

    async def find(self, turn_id: str) -> Turn | None:
        """The turn of an id, if it was ever named."""
        rows = await self._connection.execute(
            select(turns).where(self._mine, turns.c.id == turn_id)
        )
        row = rows.first()
        return None if row is None else _turn(row)

    async def running(self) -> list[Turn]:
        """The turns that nobody has ended, oldest first, lapsed ones included."""
        statement = (
            select(turns).where(self._mine, turns.c.status == "running").order_by(turns.c.ordinal)
        )
        return [_turn(row) for row in await self._connection.execute(statement)]

    async def by_ids(self, turn_ids: list[str]) -> dict[str, Turn]:
        """The turns among some ids."""
        statement = select(turns).where(self._mine, turns.c.id.in_(turn_ids))
        found = [_turn(row) for row in await self._connection.execute(statement)]
        return {turn.id: turn for turn in found}

    async def latest(self) -> Turn | None:
        """The turn that was named first most recently."""
        statement = select(turns).where(self._mine).order_by(turns.c.ordinal.desc()).limit(1)
        row = (await self._connection.execute(statement)).first()
        return None if row is None else _turn(row)

    async def page(self, order: Order, after: int | None, limit: int) -> list[Turn]:
        """Up to `limit` turns that come after an ordinal in that order."""
        place = turns.c.ordinal
        statement = select(turns).where(self._mine).limit(limit)
        if after is not None:
            statement = statement.where(place > after if order == "asc" else place < after)
        statement = statement.order_by(place if order == "asc" else place.desc())
        return [_turn(row) for row in await self._connection.execute(statement)]


class TurnWriter(TurnRepository):
    """Changes of one session's turns; its row is locked."""

    def __init__(self, connection: WriteConnection, incarnation: str) -> None:
        super().__init__(connection, incarnation)

    async def next_ordinal(self) -> int:
        """The ordinal of a turn that is named for the first time now."""
        last = select(func.coalesce(func.max(turns.c.ordinal), 0)).where(self._mine)
        ordinal: int = (await self._connection.execute(last)).scalar_one()
        return ordinal + 1

    async def save(self, turn: Turn) -> None:
        """Store a turn, new or changed."""
        dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
        columns = _columns(turn)
        statement = dialect.insert(turns).values(incarnation=self._incarnation, **columns)
        await self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=[turns.c.incarnation, turns.c.id],
                set_={name: statement.excluded[name] for name in columns if name != "id"},
            )
        )


def _columns(turn: Turn) -> dict[str, object]:
    return {
        "id": turn.id,
        "ordinal": turn.ordinal,
        "status": turn.status,
        "owner": None if turn.owner is None else turn.owner.encode(),
        "lease_seconds": turn.lease_seconds,
        "lease_expires_at": turn.lease_expires_at,
        "plan": None if turn.plan is None else canonical.encode(turn.plan),
        "model_call": turn.model_call,
        "sample": turn.sample,
        "decided_call": turn.decided_call,
        "created_at": turn.created_at,
        "updated_at": turn.updated_at,
    }


def _turn(row: Row[tuple[Any, ...]]) -> Turn:
    plan = None if row.plan is None else canonical.decode(row.plan)
    return Turn(
        id=row.id,
        ordinal=row.ordinal,
        status=row.status,
        owner=None if row.owner is None else row.owner.decode(),
        lease_seconds=row.lease_seconds,
        lease_expires_at=row.lease_expires_at,
        # Only objects are stored as plans.
        plan=cast("dict[str, object] | None", plan),
        model_call=row.model_call,
        sample=row.sample,
        decided_call=row.decided_call,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
