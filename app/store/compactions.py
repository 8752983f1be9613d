"""Compactions of a session, in any of their states."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Row, func, not_, select
from sqlalchemy.dialects import postgresql, sqlite

from app.compaction.codec import decode_compaction, encode_compaction
from app.compaction.errors import CompactionNotFound
from app.compaction.record import (
    BACKGROUND_KINDS,
    Compaction,
    CompactionKind,
    CompactionStatus,
)
from app.compaction.view import WHOLE, View
from app.core.ids import is_key
from app.store.connections import ReadConnection, WriteConnection
from app.store.messages import Order
from app.store.tables import compactions, sessions

_IS_NO_BATCH = compactions.c.kind != "tool_pairs"
"""Batches of tool pairs run beside everything else and keep nobody waiting."""


class CompactionRepository:
    """Reads of one session's compactions."""

    def __init__(self, connection: ReadConnection, incarnation: str) -> None:
        self._connection = connection
        self._incarnation = incarnation
        self._mine = compactions.c.incarnation == incarnation

    async def get(self, compaction_id: str) -> Compaction:
        """The compaction of an id.

        Raises:
            CompactionNotFound: There is none.
        """
        # PostgreSQL's text refuses NUL, so an id that none can have never reaches it.
        found = await self.find(compaction_id) if is_key(compaction_id) else None
        if found is None:
            raise CompactionNotFound(
                f"conversation compaction not found: {compaction_id[:100]}",
                compaction_id=compaction_id[:100],
            )
        return found

    async def find(self, compaction_id: str) -> Compaction | None:
        """The compaction of an id, if there is one."""
        return await self._first(compactions.c.id == compaction_id)

    async def view(self, view_id: str | None) -> View:
        """The view that a session or a recipe names."""
        if view_id is None:
            return WHOLE
        return (await self.get(view_id)).view or WHOLE

    async def pending(self) -> Compaction | None:
        """The compaction that is under way and that others wait for. There is at most one."""
        waited_for = compactions.c.kind.not_in(sorted(BACKGROUND_KINDS))
        return await self._first((compactions.c.status == "pending") & waited_for)

    async def of_kind(self, kind: CompactionKind, status: CompactionStatus) -> list[Compaction]:
        """The compactions of a kind that have a status, oldest first."""
        return await self._all((compactions.c.kind == kind) & (compactions.c.status == status))

    async def of_plan(self, kind: CompactionKind, plan_key: str) -> Compaction | None:
        """The newest compaction of a kind that has a plan."""
        return await self._first(
            (compactions.c.kind == kind) & (compactions.c.plan_key == plan_key)
        )

    async def under_way(self) -> list[Compaction]:
        """All compactions that have not ended, those in the background included, oldest first."""
        return await self._all(compactions.c.status == "pending")

    async def pair_batches(self, turn_id: str | None) -> list[Compaction]:
        """The batches of tool pairs that are under way, and those of a turn, oldest first."""
        wanted = compactions.c.status == "pending"
        if turn_id is not None:
            wanted |= compactions.c.turn_id == turn_id
        return await self._all(wanted & not_(_IS_NO_BATCH))

    async def of_call(self, turn_id: str, model_call: int) -> list[Compaction]:
        """The compactions that count as the one of a model call, oldest first.

        A provider's own folds and tool pairs are none of them, nor is what was begun ahead of time.
        """
        of_call = (compactions.c.turn_id == turn_id) & (compactions.c.model_call == model_call)
        beside = compactions.c.kind.not_in(["provider", *sorted(BACKGROUND_KINDS)])
        return await self._all(of_call & beside)

    async def latest_checkpoint(self) -> Compaction | None:
        """The newest compaction whose checkpoint has something in place of what it folds."""
        statement = (
            select(compactions)
            .where(self._mine, compactions.c.checkpoint_sequence.is_not(None))
            .order_by(compactions.c.checkpoint_sequence.desc())
        )
        for row in await self._connection.execute(statement):
            found = _compaction(row)
            if found.checkpoint is not None and found.checkpoint.items:
                return found
        return None

    async def installed_at(self, sequence: int) -> Compaction | None:
        """The newest view that was installed at or before a sequence."""
        return await self._last_of(
            installed_by(self._incarnation, sequence), compactions.c.checkpoint_sequence
        )

    async def page(self, order: Order, after: int | None, limit: int) -> list[Compaction]:
        """Up to `limit` compactions that come after an ordinal in that order."""
        place = compactions.c.ordinal
        statement = select(compactions).where(self._mine).limit(limit)
        if after is not None:
            statement = statement.where(place > after if order == "asc" else place < after)
        statement = statement.order_by(place if order == "asc" else place.desc())
        return [_compaction(row) for row in await self._connection.execute(statement)]

    async def _all(self, condition: ColumnElement[bool]) -> list[Compaction]:
        statement = select(compactions).where(self._mine, condition).order_by(compactions.c.ordinal)
        return [_compaction(row) for row in await self._connection.execute(statement)]

    async def _first(self, condition: ColumnElement[bool]) -> Compaction | None:
        return await self._last_of(condition, compactions.c.ordinal)

    async def _last_of(
        self, condition: ColumnElement[bool], place: Column[int]
    ) -> Compaction | None:
        statement = select(compactions).where(self._mine, condition).order_by(place.desc()).limit(1)
        row = (await self._connection.execute(statement)).first()
        return None if row is None else _compaction(row)


class CompactionWriter(CompactionRepository):
    """Changes of one session's compactions; its row is locked."""

    def __init__(self, connection: WriteConnection, incarnation: str) -> None:
        super().__init__(connection, incarnation)

    async def next_ordinal(self) -> int:
        """The ordinal of a compaction that is created now."""
        last = select(func.coalesce(func.max(compactions.c.ordinal), 0)).where(self._mine)
        ordinal: int = (await self._connection.execute(last)).scalar_one()
        return ordinal + 1

    async def next_checkpoint_sequence(self) -> int:
        """The sequence of a checkpoint that is installed now."""
        column = compactions.c.checkpoint_sequence
        last = select(func.coalesce(func.max(column), 0)).where(self._mine)
        sequence: int = (await self._connection.execute(last)).scalar_one()
        return sequence + 1

    async def save(self, compaction: Compaction) -> None:
        """Store a compaction, new or changed."""
        dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
        columns = _columns(compaction)
        statement = dialect.insert(compactions).values(incarnation=self._incarnation, **columns)
        await self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=[compactions.c.incarnation, compactions.c.id],
                set_={name: statement.excluded[name] for name in columns if name != "id"},
            )
        )


def installed_by(incarnation: str, sequence: int) -> ColumnElement[bool]:
    """Whether a view of a session was installed at or before a sequence.

    A call that waits can keep the boundary of a later view below that of an
    earlier one. So a view counts only where all views before it count.
    """
    earlier = compactions.alias()
    first_beyond = (
        select(func.min(earlier.c.checkpoint_sequence))
        .where(earlier.c.incarnation == incarnation)
        .where(earlier.c.replaced_through_sequence > sequence)
        .scalar_subquery()
    )
    return compactions.c.checkpoint_sequence.is_not(None) & (
        first_beyond.is_(None) | (compactions.c.checkpoint_sequence < first_beyond)
    )


async def lapsed_runs(
    connection: ReadConnection, now: datetime, limit: int
) -> list[tuple[str, str]]:
    """Session and id of up to `limit` compactions that the service runs and nobody claims now.

    Those that have waited longest come first.
    """
    statement = (
        select(sessions.c.id, compactions.c.id)
        .join(sessions, sessions.c.incarnation == compactions.c.incarnation)
        .where(compactions.c.pending_runner == "service", compactions.c.claim_expires_at <= now)
        .order_by(compactions.c.claim_expires_at, compactions.c.incarnation, compactions.c.id)
        .limit(limit)
    )
    return [(session_id, id_) for session_id, id_ in await connection.execute(statement)]


def _columns(compaction: Compaction) -> dict[str, object]:
    plan, claim, checkpoint = compaction.plan, compaction.claim, compaction.checkpoint
    return {
        "id": compaction.id,
        "ordinal": compaction.ordinal,
        "kind": compaction.kind,
        "status": compaction.status,
        "turn_id": compaction.turn_id,
        "model_call": compaction.model_call,
        "plan_key": None if plan is None else plan.key,
        "checkpoint_sequence": None if checkpoint is None else checkpoint.sequence,
        "replaced_through_sequence": (
            None if checkpoint is None else checkpoint.replaced_through_sequence
        ),
        "record": encode_compaction(compaction),
        "claim_expires_at": None if claim is None else claim.expires_at,
        "completed_at": None if checkpoint is None else checkpoint.created_at,
        "pending_runner": compaction.runner if compaction.status == "pending" else None,
        "created_at": compaction.created_at,
        "updated_at": compaction.updated_at,
    }


def _compaction(row: Row[tuple[Any, ...]]) -> Compaction:
    return decode_compaction(
        row.record, row.created_at, row.updated_at, row.claim_expires_at, row.completed_at
    )
