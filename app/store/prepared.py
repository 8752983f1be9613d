"""Prepared calls: recipes and fingerprints, never bytes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal, TypeAlias, cast

from sqlalchemy import Row, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.core import canonical
from app.core.call_size import CallSize, size_from_json, size_json
from app.core.errors import PreparedNotFound
from app.core.ledger import CallMeasures
from app.core.prefix import Fingerprint, Segment
from app.core.recipe import Recipe, decode_recipe, encode_recipe
from app.store.connections import ReadConnection, WriteConnection
from app.store.tables import prepared_calls

Recovery: TypeAlias = Literal["pruned", "compact"]
"""What was done about a reported overflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCall:
    """When a session's last call was prepared, and what it showed."""

    view_id: str | None
    prepared_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A prepared call of a session as it is stored."""

    id: str
    recipe: Recipe
    fingerprint: Fingerprint
    measures: CallMeasures
    size: CallSize | None
    """What a report of it is compared with; None of calls before that was kept."""


class PreparedRepository:
    """Reads of one session's prepared calls."""

    def __init__(self, connection: ReadConnection, incarnation: str) -> None:
        self._connection = connection
        self._incarnation = incarnation
        self._mine = prepared_calls.c.incarnation == incarnation

    async def latest(self, request_format: str, model: str, count: int) -> Sequence[RecordedCall]:
        """The last recorded calls of a format and model, newest first."""
        statement = (
            select(prepared_calls)
            .where(self._mine, prepared_calls.c.format == request_format)
            .where(prepared_calls.c.model == model)
            .order_by(prepared_calls.c.ordinal.desc())
            .limit(count)
        )
        return [_recorded(row) for row in await self._connection.execute(statement)]

    async def last(self, model: str) -> LastCall | None:
        """The last recorded call of a model in whatever format; None before the first."""
        statement = (
            select(prepared_calls.c.recipe, prepared_calls.c.created_at)
            .where(self._mine)
            .where(prepared_calls.c.model == model)
            .order_by(prepared_calls.c.ordinal.desc())
            .limit(1)
        )
        row = (await self._connection.execute(statement)).first()
        if row is None:
            return None
        return LastCall(view_id=decode_recipe(row.recipe).view_id, prepared_at=row.created_at)

    async def get(self, prepared_id: str) -> RecordedCall:
        """The recorded call of an id.

        Raises:
            PreparedNotFound: There is none.
        """
        statement = select(prepared_calls).where(self._mine, prepared_calls.c.id == prepared_id)
        row = (await self._connection.execute(statement)).first()
        if row is None:
            raise _not_found(prepared_id)
        return _recorded(row)

    async def recovery(self, prepared_id: str) -> Recovery | None:
        """How an overflow of a call was answered, if one was reported.

        Raises:
            PreparedNotFound: The call was never prepared.
        """
        statement = select(prepared_calls.c.recovery).where(
            self._mine, prepared_calls.c.id == prepared_id
        )
        row = (await self._connection.execute(statement)).first()
        if row is None:
            raise _not_found(prepared_id)
        # Only the words of `record_recovery` are stored.
        return None if row.recovery is None else cast("Recovery", row.recovery.decode())

    async def last_id(self) -> str | None:
        """The id of the call that was recorded last, whatever its format."""
        statement = (
            select(prepared_calls.c.id)
            .where(self._mine)
            .order_by(prepared_calls.c.ordinal.desc())
            .limit(1)
        )
        return (await self._connection.execute(statement)).scalar_one_or_none()


class PreparedWriter(PreparedRepository):
    """Records of one session's prepared calls; its row is locked."""

    def __init__(self, connection: WriteConnection, incarnation: str) -> None:
        super().__init__(connection, incarnation)

    async def record_recovery(self, prepared_id: str, recovery: Recovery) -> None:
        """Store how an overflow of a call was answered, so that a repeat gets it again."""
        await self._connection.execute(
            update(prepared_calls)
            .where(self._mine, prepared_calls.c.id == prepared_id)
            .values(recovery=recovery.encode())
        )

    async def observe_limit(self, prepared_id: str, tokens: int) -> str | None:
        """Store the limit that refused a call. The call's model, or None for a repeat."""
        rows = await self._connection.execute(
            update(prepared_calls)
            .where(self._mine, prepared_calls.c.id == prepared_id)
            .where(prepared_calls.c.observed_limit_tokens.is_(None))
            .values(observed_limit_tokens=tokens)
            .returning(prepared_calls.c.model)
        )
        model: str | None = rows.scalar_one_or_none()
        return model

    async def record(self, call: RecordedCall, at: datetime) -> None:
        """Make a call the session's latest; one that is stored already moves to the end."""
        last = select(func.coalesce(func.max(prepared_calls.c.ordinal), 0)).where(self._mine)
        ordinal = (await self._connection.execute(last)).scalar_one() + 1
        dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
        statement = dialect.insert(prepared_calls).values(
            incarnation=self._incarnation,
            id=call.id,
            ordinal=ordinal,
            format=call.recipe.format,
            model=call.recipe.model,
            recipe=encode_recipe(call.recipe),
            agent_ref=call.recipe.agent_ref,
            through_sequence=call.recipe.through_sequence,
            message_count=call.fingerprint.message_count,
            message_bytes=call.fingerprint.message_bytes,
            chain=call.fingerprint.chain,
            segments=_segments_bytes(call.fingerprint),
            **asdict(call.measures),
            size=None if call.size is None else canonical.encode(size_json(call.size)),
            created_at=at,
        )
        changed = {name: statement.excluded[name] for name in _OF_THE_LATEST}
        await self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=[prepared_calls.c.incarnation, prepared_calls.c.id], set_=changed
            )
        )


_OF_THE_LATEST = (
    *("ordinal", "recipe", "agent_ref", "through_sequence", "created_at"),
    *(field.name for field in fields(CallMeasures)),
    "size",
)
"""Columns that a call takes anew when it is prepared once more."""


def _not_found(prepared_id: str) -> PreparedNotFound:
    return PreparedNotFound(f"there is no prepared call {prepared_id!r}", prepared_id=prepared_id)


def _segments_bytes(fingerprint: Fingerprint) -> bytes:
    return canonical.encode(
        [[part.name, part.size_bytes, part.chain.hex()] for part in fingerprint.segments]
    )


def _recorded(row: Row[tuple[Any, ...]]) -> RecordedCall:
    # Only bytes made by `_segments_bytes` are stored, so their shape is known.
    parts = cast("list[list[Any]]", canonical.decode(row.segments))
    system, tools, messages = (
        Segment(name=name, size_bytes=size, chain=bytes.fromhex(chain))
        for name, size, chain in parts
    )
    return RecordedCall(
        id=row.id,
        recipe=decode_recipe(row.recipe),
        fingerprint=Fingerprint(
            message_count=row.message_count,
            message_bytes=row.message_bytes,
            chain=row.chain,
            segments=(system, tools, messages),
        ),
        measures=CallMeasures(
            estimated_tokens=row.estimated_tokens,
            calibrated_tokens=row.calibrated_tokens,
            expected_cached_tokens=row.expected_cached_tokens,
            break_cause=row.break_cause,
        ),
        size=None if row.size is None else size_from_json(canonical.decode(row.size)),
    )
