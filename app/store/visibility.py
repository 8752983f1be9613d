"""Changes of who sees a message: boundaries behind it, which leave the message as it is.

Source: docs/semantics/goose.md#boundaries.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, FromClause, ScalarSelect, func, insert, select

from app.core.visibility import Visibility
from app.store.connections import WriteConnection
from app.store.tables import messages, visibility_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMessages:
    """Messages beside the newest change of who sees each."""

    rows: FromClause
    for_agent: ColumnElement[bool]
    for_people: ColumnElement[bool]
    newest: tuple[ColumnElement[bool | None], ...] = ()
    """The flags of the newest change, which are null where there is none."""


def seen_messages(incarnation: str, through_ordinal: int | None) -> SeenMessages:
    """A session's messages by the changes through an ordinal; None is all of them."""
    if through_ordinal == 0:
        return SeenMessages(
            rows=messages, for_agent=messages.c.agent_visible, for_people=messages.c.user_visible
        )
    changed = visibility_changes.alias("changed")
    is_newest = (changed.c.incarnation == incarnation) & (
        changed.c.ordinal == _newest_ordinal(incarnation, through_ordinal)
    )
    return SeenMessages(
        rows=messages.outerjoin(changed, is_newest),
        for_agent=func.coalesce(changed.c.agent_visible, messages.c.agent_visible),
        for_people=func.coalesce(changed.c.user_visible, messages.c.user_visible),
        newest=(
            changed.c.agent_visible.label("changed_agent"),
            changed.c.user_visible.label("changed_user"),
        ),
    )


def _newest_ordinal(incarnation: str, through_ordinal: int | None) -> ScalarSelect[int]:
    """The newest change of the message of a row: two steps in an index, however many there are."""
    change = visibility_changes.alias("change")
    newest = (
        select(func.max(change.c.ordinal))
        .where(change.c.incarnation == incarnation, change.c.sequence == messages.c.sequence)
        .correlate(messages)
    )
    if through_ordinal is not None:
        newest = newest.where(change.c.ordinal <= through_ordinal)
    return newest.scalar_subquery()


class VisibilityWriter:
    """Changes of one session, whose row the transaction has locked."""

    def __init__(self, connection: WriteConnection, incarnation: str) -> None:
        self._connection = connection
        self._incarnation = incarnation

    async def add(
        self, sequence: int, visibility: Visibility, after_ordinal: int, at: datetime
    ) -> int:
        """Store who sees a message from now on. The ordinal of the change.

        It is above `after_ordinal` too, since a fork holds not every change that it knows of.
        """
        table = visibility_changes
        last = select(func.coalesce(func.max(table.c.ordinal), 0)).where(
            table.c.incarnation == self._incarnation
        )
        newest: int = (await self._connection.execute(last)).scalar_one()
        ordinal = max(newest, after_ordinal) + 1
        await self._connection.execute(
            insert(table).values(
                incarnation=self._incarnation,
                ordinal=ordinal,
                sequence=sequence,
                agent_visible=visibility.agent,
                user_visible=visibility.user,
                at=at,
            )
        )
        return ordinal
