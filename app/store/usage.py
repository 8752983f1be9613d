"""The ledger of a session: reports of its calls, and the events between them."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import Row, func, insert, select

from app.core.ledger import CallMeasures, LedgerEntry
from app.core.usage_report import UsageNumbers
from app.store.connections import ReadConnection, WriteConnection
from app.store.messages import Order
from app.store.tables import usage_reports

_Row: TypeAlias = Row[tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A report as it was given, and the answer that a repeat of it gets."""

    report: bytes
    answer: bytes


class LedgerRepository:
    """Reads of one session's ledger."""

    def __init__(self, connection: ReadConnection, incarnation: str) -> None:
        self._connection = connection
        self._incarnation = incarnation
        self._mine = usage_reports.c.incarnation == incarnation

    async def answered(self, identity: bytes) -> Answered | None:
        """What came under an identity before."""
        row = await self._of_identity(identity)
        return None if row is None else Answered(report=row.report, answer=row.answer)

    async def has(self, identity: bytes) -> bool:
        """Whether an entry is there already."""
        return await self._of_identity(identity) is not None

    async def latest_report(self) -> LedgerEntry | None:
        """The last report that was not late."""
        statement = (
            select(usage_reports)
            .where(self._mine, usage_reports.c.report.is_not(None))
            .where(usage_reports.c.is_late.is_(False))
            .order_by(usage_reports.c.ordinal.desc())
            .limit(1)
        )
        row = (await self._connection.execute(statement)).first()
        return None if row is None else _entry(row)

    async def page(self, order: Order, after: int | None, limit: int) -> list[LedgerEntry]:
        """Up to `limit` entries that come after an ordinal in that order."""
        place = usage_reports.c.ordinal
        statement = select(usage_reports).where(self._mine).limit(limit)
        if after is not None:
            statement = statement.where(place > after if order == "asc" else place < after)
        statement = statement.order_by(place if order == "asc" else place.desc())
        return [_entry(row) for row in await self._connection.execute(statement)]

    async def _of_identity(self, identity: bytes) -> Row[Any, Any] | None:
        statement = select(usage_reports.c.report, usage_reports.c.answer).where(
            self._mine, usage_reports.c.identity == identity
        )
        rows = await self._connection.execute(statement)
        return rows.first()


class LedgerWriter(LedgerRepository):
    """Additions to one session's ledger; its row is locked."""

    def __init__(self, connection: WriteConnection, incarnation: str) -> None:
        super().__init__(connection, incarnation)

    async def next_ordinal(self) -> int:
        """The ordinal of the entry that comes now."""
        last = select(func.coalesce(func.max(usage_reports.c.ordinal), 0)).where(self._mine)
        ordinal: int = (await self._connection.execute(last)).scalar_one()
        return ordinal + 1

    async def add_event(self, entry: LedgerEntry, identity: bytes | None) -> None:
        """Store an event; `identity` finds it again, where it may be told of twice."""
        await self._add(entry, {"identity": identity})

    async def add_report(self, entry: LedgerEntry, identity: bytes, answered: Answered) -> None:
        """Store a report with the answer to it."""
        await self._add(
            entry, {"identity": identity, "report": answered.report, "answer": answered.answer}
        )

    async def _add(self, entry: LedgerEntry, more: dict[str, object]) -> None:
        values = {"incarnation": self._incarnation, **_columns(entry), **more}
        await self._connection.execute(insert(usage_reports).values(**values))


_PLAIN = (
    *("ordinal", "at", "turn_id", "model_call", "prepared_id"),
    *("window_number", "is_late", "is_estimated", "event"),
)
_NUMBERS = (
    *("input_tokens", "cached_input_tokens", "cache_write_tokens"),
    *("output_tokens", "reasoning_output_tokens", "total_tokens"),
)
_MEASURES = ("estimated_tokens", "calibrated_tokens", "expected_cached_tokens", "break_cause")


def _columns(entry: LedgerEntry) -> dict[str, object]:
    return {
        **{name: getattr(entry, name) for name in _PLAIN},
        **{name: getattr(entry.numbers, name) for name in _NUMBERS},
        **{name: getattr(entry.measures, name) for name in _MEASURES},
        "model": entry.model.encode(),
        "requested_model": _encoded(entry.requested_model),
        "cause": _encoded(entry.cause),
    }


def _entry(row: _Row) -> LedgerEntry:
    values = row._mapping
    return LedgerEntry(
        ordinal=row.ordinal,
        at=row.at,
        turn_id=row.turn_id,
        model_call=row.model_call,
        prepared_id=row.prepared_id,
        model=row.model.decode(),
        requested_model=_decoded(row.requested_model),
        window_number=row.window_number,
        is_late=row.is_late,
        is_estimated=row.is_estimated,
        event=row.event,
        cause=_decoded(row.cause),
        numbers=UsageNumbers(**{name: values[name] for name in _NUMBERS}),
        measures=CallMeasures(**{name: values[name] for name in _MEASURES}),
    )


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _decoded(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
