"""World state of a session: the baseline per section, and every sample's answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import delete, insert, select

from app.store.connections import ReadConnection, WriteConnection
from app.store.tables import world_state_emissions, world_state_samples, world_state_sections


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSection:
    """What a session knows of one section."""

    section_id: str
    baseline_state: Literal["unknown", "absent", "known"]
    baseline_text: str | None
    message_id: str | None
    """The message that carries the baseline."""
    last_state: Literal["absent", "known"]
    last_text: str | None
    """What the section was when it was last sampled without an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleKey:
    """Which sample of which model call of which turn."""

    turn_id: str
    model_call: int
    sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEmission:
    """A message that told the model about a section, and what it then knew."""

    sequence: int
    section_id: str
    state: Literal["absent", "known"]
    notice_chars: int


class WorldStateRepository:
    """Reads of one session's world state."""

    def __init__(self, connection: ReadConnection, incarnation: str) -> None:
        self._connection = connection
        self._incarnation = incarnation

    async def sections(self) -> tuple[StoredSection, ...]:
        """Every section that was ever sampled, in the order of the captures."""
        table = world_state_sections
        statement = (
            select(table)
            .where(table.c.incarnation == self._incarnation)
            .order_by(table.c.position, table.c.section_id)
        )
        return tuple(
            StoredSection(
                section_id=row.section_id,
                baseline_state=row.baseline_state,
                baseline_text=_decoded(row.baseline_text),
                message_id=row.message_id,
                last_state=row.last_state,
                last_text=_decoded(row.last_text),
            )
            for row in await self._connection.execute(statement)
        )

    async def answer(self, key: SampleKey) -> bytes | None:
        """The answer that a sample got, if it was taken before."""
        table = world_state_samples
        statement = (
            select(table.c.answer)
            .where(table.c.incarnation == self._incarnation, table.c.turn_id == key.turn_id)
            .where(table.c.model_call == key.model_call, table.c.sample == key.sample)
        )
        return (await self._connection.execute(statement)).scalar_one_or_none()

    async def emissions(self) -> list[StoredEmission]:
        """Every message that told about a section, in order."""
        table = world_state_emissions
        statement = (
            select(table).where(table.c.incarnation == self._incarnation).order_by(table.c.sequence)
        )
        return [
            StoredEmission(
                sequence=row.sequence,
                section_id=row.section_id,
                state=row.state,
                notice_chars=row.notice_chars,
            )
            for row in await self._connection.execute(statement)
        ]


class WorldStateWriter(WorldStateRepository):
    """Changes of one session's world state; its row is locked."""

    def __init__(self, connection: WriteConnection, incarnation: str) -> None:
        super().__init__(connection, incarnation)

    async def replace_sections(self, sections: Sequence[StoredSection]) -> None:
        """Store what is known of every section."""
        table = world_state_sections
        await self._connection.execute(
            delete(table).where(table.c.incarnation == self._incarnation)
        )
        rows = [
            {
                "incarnation": self._incarnation,
                "section_id": section.section_id,
                "baseline_state": section.baseline_state,
                "baseline_text": _encoded(section.baseline_text),
                "message_id": section.message_id,
                "last_state": section.last_state,
                "last_text": _encoded(section.last_text),
                "position": position,
            }
            for position, section in enumerate(sections)
        ]
        if rows:
            await self._connection.execute(insert(table), rows)

    async def record_emissions(self, emissions: Sequence[StoredEmission]) -> None:
        """Store which messages told about which sections."""
        rows = [
            {
                "incarnation": self._incarnation,
                "sequence": emission.sequence,
                "section_id": emission.section_id,
                "state": emission.state,
                "notice_chars": emission.notice_chars,
            }
            for emission in emissions
        ]
        if rows:
            await self._connection.execute(insert(world_state_emissions), rows)

    async def record_answer(self, key: SampleKey, answer: bytes, at: datetime) -> None:
        """Store what a sample was answered."""
        await self._connection.execute(
            insert(world_state_samples).values(
                incarnation=self._incarnation,
                turn_id=key.turn_id,
                model_call=key.model_call,
                sample=key.sample,
                answer=answer,
                created_at=at,
            )
        )


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _decoded(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
