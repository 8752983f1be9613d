"""Events of all sessions in one order, and how far that order goes.

Whoever adds an event holds the log's only row until its transaction ends. So
ids are given out in the order of commits: a reader that sees one has seen
every smaller one.

Source: docs/adr/0046-event-log.md.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.core.events import Event, EventType
from app.store.connections import ReadConnection, WriteConnection
from app.store.event_tables import event_log, events

KEPT = timedelta(hours=24)
"""How long an event can be asked for again, by the contract."""

PRUNED_AT_ONCE = 10
"""Old events that a new one takes away; more than one, so that a backlog shrinks."""

_ONLY_ROW = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Which ids there are."""

    last_id: int
    """0 before the first event."""
    pruned_through: int
    """Events up to this id may be gone for their age; 0 where none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events are wanted; None is any."""

    session_id: str | None
    type: EventType | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event as listeners get it."""

    id: int
    incarnation: str
    type: str
    data: bytes


class EventRepository:
    """Reads of the events of all sessions."""

    def __init__(self, connection: ReadConnection) -> None:
        self._connection = connection

    async def log(self) -> Log:
        """Which ids there are now."""
        row = (await self._connection.execute(select(event_log))).first()
        if row is None:
            return Log(last_id=0, pruned_through=0)
        return Log(last_id=row.last_id, pruned_through=row.pruned_through)

    async def page(self, wanted: EventFilter, after: int, limit: int) -> list[StoredEvent]:
        """Up to `limit` events that come after an id, oldest first."""
        shown = (events.c.id, events.c.incarnation, events.c.type, events.c.data)
        statement = select(*shown).where(events.c.id > after).order_by(events.c.id).limit(limit)
        if wanted.session_id is not None:
            statement = statement.where(events.c.session_id == wanted.session_id)
        if wanted.type is not None:
            statement = statement.where(events.c.type == wanted.type)
        rows = await self._connection.execute(statement)
        return [StoredEvent(**row._mapping) for row in rows]

    async def tells_of(self, incarnation: str, plan_key: str) -> bool:
        """Whether there is an event of a session about a plan."""
        statement = (
            select(events.c.id)
            .where(events.c.incarnation == incarnation, events.c.plan_key == plan_key)
            .limit(1)
        )
        return (await self._connection.execute(statement)).first() is not None


class EventWriter(EventRepository):
    """Additions to the events."""

    def __init__(self, connection: WriteConnection) -> None:
        super().__init__(connection)

    async def add(self, event: Event, incarnation: str, plan_key: str | None, at: datetime) -> None:
        """Store an event; nobody else adds one until the transaction ends."""
        new_id = await self._next_id()
        await self._connection.execute(
            events.insert().values(
                id=new_id,
                incarnation=incarnation,
                session_id=event.session_id,
                type=event.type,
                plan_key=plan_key,
                data=event.data(),
                at=at,
            )
        )
        await self._prune(at - KEPT)

    async def _next_id(self) -> int:
        dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
        first = dialect.insert(event_log).values(id=_ONLY_ROW, last_id=1, pruned_through=0)
        rows = await self._connection.execute(
            first.on_conflict_do_update(
                index_elements=[event_log.c.id], set_={"last_id": event_log.c.last_id + 1}
            ).returning(event_log.c.last_id)
        )
        new_id: int = rows.scalar_one()
        return new_id

    async def _prune(self, before: datetime) -> None:
        """Give up the oldest events, where they are older than a moment."""
        oldest = select(events.c.id, events.c.at).order_by(events.c.id).limit(PRUNED_AT_ONCE)
        rows = await self._connection.execute(oldest)
        old = [row.id for row in rows if row.at < before]
        if not old:
            return
        # The events of a session that is being erased are gone anyway, and nobody waits for them.
        free = select(events.c.id).where(events.c.id.in_(old)).with_for_update(skip_locked=True)
        await self._connection.execute(delete(events).where(events.c.id.in_(free)))
        await self._connection.execute(update(event_log).values(pruned_through=max(old)))
