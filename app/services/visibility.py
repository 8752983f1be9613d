"""Change who sees a message: a boundary behind it, which leaves the message as it is.

Source: docs/semantics/goose.md#boundaries.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.view import Coverage
from app.core.errors import MessageNotFound
from app.core.ids import is_stored_message_id
from app.core.stored import Session, StoredMessage
from app.core.visibility import Visibility
from app.services.baselines import rebase_world_state
from app.services.messages import coverage_of
from app.services.resources import Resources
from app.services.supersede import supersede_pending
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection
from app.store.messages import MessageRepository
from app.store.sessions import SessionWriter
from app.store.visibility import VisibilityWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibilityChange:
    """The flags that a caller sets. None leaves one as it is."""

    agent: bool | None
    user: bool | None

    def of(self, before: Visibility) -> Visibility:
        """Who sees the message afterwards."""
        return Visibility(
            user=before.user if self.user is None else self.user,
            agent=before.agent if self.agent is None else self.agent,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A message and its session after a change."""

    session: Session
    message: StoredMessage
    coverage: Coverage


async def change_visibility(
    resources: Resources, session_id: str, message_id: str, change: VisibilityChange
) -> Changed:
    """The message as it is seen now. Equal flags change nothing.

    Raises:
        SessionNotFound, MessageNotFound: There is no such session or message.
    """
    if not is_stored_message_id(message_id):
        raise MessageNotFound(f"there is no message {message_id!r}")
    now = resources.now()
    async with resources.database.writing() as connection:
        sessions = SessionWriter(connection)
        session = await sessions.lock(session_id)
        stored = await MessageRepository(connection, session.incarnation).get(message_id)
        coverage = await coverage_of(connection, session)
        after = change.of(stored.visibility)
        if after != stored.visibility:
            session = await _changed(connection, session, stored, after, now)
            await sessions.save(session)
            if after.agent != stored.visibility.agent:
                await _seen_otherwise(connection, session, stored, coverage, now)
        return Changed(session=session, message=replace(stored, changed=after), coverage=coverage)


async def _changed(
    connection: WriteConnection,
    session: Session,
    stored: StoredMessage,
    after: Visibility,
    now: datetime,
) -> Session:
    """The session with the change stored, its own row not yet."""
    changes = VisibilityWriter(connection, session.incarnation)
    ordinal = await changes.add(stored.sequence, after, session.visibility_ordinal, now)
    if after.agent == stored.visibility.agent:
        ordinal = session.visibility_ordinal
    return replace(session, visibility_ordinal=ordinal, version=session.version + 1, updated_at=now)


async def _seen_otherwise(
    connection: WriteConnection,
    session: Session,
    stored: StoredMessage,
    coverage: Coverage,
    now: datetime,
) -> None:
    """What follows once the model sees more or less: for world state, and for a fold under way."""
    if stored.message.kind == "world_state":
        await rebase_world_state(connection, session, coverage.view)
    compactions = CompactionWriter(connection, session.incarnation)
    pending = await compactions.pending()
    plan = None if pending is None else pending.plan
    if plan is not None and stored.sequence <= plan.through_sequence:
        # Its summary would speak of what is hidden now, or miss what is shown.
        await supersede_pending(compactions, now)
