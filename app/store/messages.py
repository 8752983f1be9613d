"""Messages of a session: read in order, appended, never rewritten."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields
from datetime import datetime
from hashlib import sha256
from itertools import accumulate
from typing import Literal, TypeAlias

from sqlalchemy import ColumnElement, delete, insert, not_, or_, select

from app.core.chat_state import Arrival, OpenCall, advance
from app.core.errors import MessageNotFound
from app.core.items import Item
from app.core.messages import Kind, Role
from app.core.stored import NewMessage, StoredMessage
from app.core.visibility import Visibility
from app.store.connections import ReadConnection, WriteConnection
from app.store.rows import ITEM_COLUMNS, item_of_row, message_columns, pairing_of, stored_message
from app.store.tables import messages, open_calls
from app.store.visibility import SeenMessages, seen_messages

Order: TypeAlias = Literal["asc", "desc"]

RANGES_AT_ONCE = 200
"""Ranges of one statement; SQLite nests no expression deeper than 1 000."""
IDS_AT_ONCE = 10_000
"""Ids of one statement; a database takes some 32 000 values in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFilter:
    """Which messages a page lists. None: all of them."""

    kind: Kind | None = None
    role: Role | None = None
    turn_id: str | None = None
    agent_visible: bool | None = None
    user_visible: bool | None = None
    after_sequence: int | None = None
    through_sequence: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What is known of a message beside its content."""

    turn_id: str | None
    created_at: datetime
    visibility: Visibility
    """Who sees it now."""


class MessageRepository:
    """Reads of one session's messages."""

    def __init__(self, connection: ReadConnection, incarnation: str) -> None:
        self._connection = connection
        self._incarnation = incarnation
        self._mine = messages.c.incarnation == incarnation

    async def items(
        self, after_sequence: int, through_sequence: int, visibility_ordinal: int
    ) -> tuple[Item, ...]:
        """The messages that a model may see in a range of sequences, in order.

        Who sees them is what the changes through `visibility_ordinal` say.
        """
        seen = seen_messages(self._incarnation, visibility_ordinal)
        statement = (
            select(*(messages.c[name] for name in ITEM_COLUMNS))
            .select_from(seen.rows)
            .where(self._mine, seen.for_agent)
            .where(messages.c.sequence > after_sequence, messages.c.sequence <= through_sequence)
            .order_by(messages.c.sequence)
        )
        return tuple(map(item_of_row, await self._connection.execute(statement)))

    async def items_in(
        self, ranges: Sequence[tuple[int, int]], visibility_ordinal: int
    ) -> tuple[Item, ...]:
        """The messages that a model may see in some ranges, as in `items`, which do not overlap."""
        seen = seen_messages(self._incarnation, visibility_ordinal)
        found: list[Item] = []
        for start in range(0, len(ranges), RANGES_AT_ONCE):
            place = messages.c.sequence
            within = [
                (place > after) & (place <= last)
                for after, last in ranges[start : start + RANGES_AT_ONCE]
            ]
            statement = (
                select(*(messages.c[name] for name in ITEM_COLUMNS))
                .select_from(seen.rows)
                .where(self._mine, seen.for_agent, or_(*within))
                .order_by(place)
            )
            found += map(item_of_row, await self._connection.execute(statement))
        return tuple(found)

    async def turn_ids(self, through_sequence: int) -> dict[str, str | None]:
        """The turn of every message up to a sequence, by message id."""
        statement = select(messages.c.id, messages.c.turn_id).where(
            self._mine, messages.c.sequence <= through_sequence
        )
        return dict((await self._connection.execute(statement)).all())

    async def sequences(self, through_sequence: int) -> dict[str, int]:
        """The sequence of every message up to one, by message id, in order."""
        statement = (
            select(messages.c.id, messages.c.sequence)
            .where(self._mine, messages.c.sequence <= through_sequence)
            .order_by(messages.c.sequence)
        )
        return dict((await self._connection.execute(statement)).all())

    async def stamps(self, through_sequence: int) -> dict[str, Stamp]:
        """Turn, time and readers of every message up to a sequence, by message id."""
        seen = seen_messages(self._incarnation, None)
        agent, people = seen.for_agent.label("agent"), seen.for_people.label("people")
        statement = (
            select(messages.c.id, messages.c.turn_id, messages.c.created_at, agent, people)
            .select_from(seen.rows)
            .where(self._mine, messages.c.sequence <= through_sequence)
        )
        return {
            row.id: Stamp(
                turn_id=row.turn_id,
                created_at=row.created_at,
                visibility=Visibility(user=row.people, agent=row.agent),
            )
            for row in await self._connection.execute(statement)
        }

    async def hidden_from_agent(self, ids: Sequence[str], visibility_ordinal: int) -> set[str]:
        """Which of some messages no model sees, by the changes through an ordinal."""
        seen = seen_messages(self._incarnation, visibility_ordinal)
        hidden: set[str] = set()
        for start in range(0, len(ids), IDS_AT_ONCE):
            wanted = ids[start : start + IDS_AT_ONCE]
            statement = (
                select(messages.c.id)
                .select_from(seen.rows)
                .where(self._mine, messages.c.id.in_(wanted), not_(seen.for_agent))
            )
            hidden |= set((await self._connection.execute(statement)).scalars())
        return hidden

    async def ids_at(self, sequences: Set[int]) -> dict[int, str]:
        """The ids of the messages at some sequences."""
        statement = select(messages.c.sequence, messages.c.id).where(
            self._mine, messages.c.sequence.in_(sorted(sequences))
        )
        return {row.sequence: row.id for row in await self._connection.execute(statement)}

    async def turns_at(self, sequences: Set[int]) -> dict[str, str | None]:
        """The turns of the messages at some sequences, by message id."""
        statement = select(messages.c.id, messages.c.turn_id).where(
            self._mine, messages.c.sequence.in_(sorted(sequences))
        )
        return {row.id: row.turn_id for row in await self._connection.execute(statement)}

    async def by_ids(self, ids: Sequence[str]) -> dict[str, StoredMessage]:
        """The stored messages among some ids."""
        seen = seen_messages(self._incarnation, None)
        found: dict[str, StoredMessage] = {}
        for start in range(0, len(ids), IDS_AT_ONCE):
            wanted = ids[start : start + IDS_AT_ONCE]
            statement = (
                select(messages, *seen.newest)
                .select_from(seen.rows)
                .where(self._mine, messages.c.id.in_(wanted))
            )
            rows = (await self._connection.execute(statement)).mappings()
            found |= {row["id"]: stored_message(row) for row in rows}
        return found

    async def cumulative_json_bytes(self, sequence: int) -> int:
        """JSON bytes of all messages up to a sequence that the session holds."""
        statement = select(messages.c.cumulative_json_bytes).where(
            self._mine, messages.c.sequence == sequence
        )
        total: int | None = (await self._connection.execute(statement)).scalar_one_or_none()
        return total or 0

    async def recount_open_calls(self) -> dict[str, OpenCall]:
        """The calls without a final result, from the messages themselves."""
        statement = (
            select(messages.c.sequence, messages.c.id, messages.c.pairing)
            .where(self._mine, messages.c.pairing.is_not(None))
            .order_by(messages.c.sequence)
        )
        rows = await self._connection.execute(statement)
        paired = ((row, *pairing_of(row.pairing)) for row in rows)
        return advance(
            {},
            [
                Arrival(
                    index=0,
                    sequence=row.sequence,
                    message_id=row.id,
                    calls=calls,
                    results=results,
                )
                for row, calls, results in paired
            ],
            # What is stored was taken, whatever the policy says now.
            "rename",
        )

    async def artifact_contents(self) -> list[bytes]:
        """The contents that hold artifacts, in order: what they count is less than they are."""
        statement = (
            select(messages.c.content)
            .where(self._mine, messages.c.json_bytes < messages.c.content_bytes)
            .order_by(messages.c.sequence)
        )
        return list((await self._connection.execute(statement)).scalars())

    async def world_state_contents(self, visibility_ordinal: int) -> list[tuple[int, str, bytes]]:
        """Sequence, id and content of the world-state messages a model may see, in order."""
        seen = seen_messages(self._incarnation, visibility_ordinal)
        statement = (
            select(messages.c.sequence, messages.c.id, messages.c.content)
            .select_from(seen.rows)
            .where(self._mine, messages.c.kind == "world_state", seen.for_agent)
            .order_by(messages.c.sequence)
        )
        rows = await self._connection.execute(statement)
        return [(row.sequence, row.id, row.content) for row in rows]

    async def page(
        self, wanted: MessageFilter, order: Order, after: int | None, limit: int
    ) -> list[StoredMessage]:
        """Up to `limit` messages of a filter that come after a sequence in that order."""
        place = messages.c.sequence
        seen = seen_messages(self._incarnation, None)
        statement = (
            select(messages, *seen.newest)
            .select_from(seen.rows)
            .where(self._mine, *_conditions(wanted, seen))
            .limit(limit)
        )
        if after is not None:
            statement = statement.where(place > after if order == "asc" else place < after)
        statement = statement.order_by(place if order == "asc" else place.desc())
        rows = (await self._connection.execute(statement)).mappings()
        return [stored_message(row) for row in rows]

    async def get(self, message_id: str) -> StoredMessage:
        """The message of an id.

        Raises:
            MessageNotFound: The session holds none.
        """
        found = await self.by_ids([message_id])
        if message_id not in found:
            raise MessageNotFound(f"there is no message {message_id!r}", message_id=message_id)
        return found[message_id]

    async def open_calls(self) -> dict[str, OpenCall]:
        """The calls that have no final result, by id."""
        statement = select(
            open_calls.c.call_id,
            open_calls.c.name,
            open_calls.c.sequence,
            open_calls.c["count"].label("calls"),
        ).where(open_calls.c.incarnation == self._incarnation)
        calls = (
            OpenCall(
                id=row.call_id.decode(),
                name=row.name.decode(),
                sequence=row.sequence,
                count=row.calls,
            )
            for row in await self._connection.execute(statement)
        )
        return {call.id: call for call in calls}


class MessageWriter(MessageRepository):
    """Appends to one session, whose row the transaction has locked."""

    def __init__(self, connection: WriteConnection, incarnation: str) -> None:
        super().__init__(connection, incarnation)

    async def append(
        self, arrived: Sequence[NewMessage], message_count: int, cumulative_json_bytes: int
    ) -> None:
        """Store messages behind the `message_count` that the session holds."""
        sizes = (message.facts.json_bytes for message in arrived)
        totals = accumulate(sizes, initial=cumulative_json_bytes)
        next(totals)
        rows = [
            {
                "incarnation": self._incarnation,
                "sequence": sequence,
                "cumulative_json_bytes": total,
                **message_columns(message),
            }
            for sequence, (message, total) in enumerate(
                zip(arrived, totals, strict=True), start=message_count + 1
            )
        ]
        await self._connection.execute(insert(messages), rows)

    async def replace_open_calls(
        self, before: Mapping[str, OpenCall], after: Mapping[str, OpenCall]
    ) -> None:
        """Store which calls are open after an append."""
        closed = [_call_key(call_id) for call_id in before if before[call_id] != after.get(call_id)]
        opened = [call for call_id, call in after.items() if before.get(call_id) != call]
        if closed:
            await self._connection.execute(
                delete(open_calls)
                .where(open_calls.c.incarnation == self._incarnation)
                .where(open_calls.c.call_sha256.in_(closed))
            )
        if opened:
            await self._connection.execute(
                insert(open_calls),
                [
                    {
                        "incarnation": self._incarnation,
                        "call_sha256": _call_key(call.id),
                        "call_id": call.id.encode(),
                        "name": call.name.encode(),
                        "sequence": call.sequence,
                        "count": call.count,
                    }
                    for call in opened
                ],
            )


def _call_key(call_id: str) -> bytes:
    return sha256(call_id.encode()).digest()


def _conditions(wanted: MessageFilter, seen: SeenMessages) -> list[ColumnElement[bool]]:
    given = {field.name: getattr(wanted, field.name) for field in fields(wanted)}
    after, through = given.pop("after_sequence"), given.pop("through_sequence")
    flags = {"agent_visible": seen.for_agent, "user_visible": seen.for_people}
    conditions = [
        flags.get(name, messages.c[name]) == value
        for name, value in given.items()
        if value is not None
    ]
    if after is not None:
        conditions.append(messages.c.sequence > after)
    return conditions if through is None else [*conditions, messages.c.sequence <= through]
