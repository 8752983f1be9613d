"""Where a worker that comes back goes on: its turn, its calls, its compaction."""

from dataclasses import dataclass

from app.core.chat_state import OpenCall
from app.core.stored import LearnedLimit, Session
from app.core.turns import Turn
from app.services.models import learned_limit
from app.services.resources import Resources
from app.store.compactions import CompactionRepository
from app.store.messages import MessageRepository
from app.store.prepared import PreparedRepository
from app.store.sessions import SessionRepository
from app.store.turns import TurnRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """What is open in a session."""

    turn: Turn | None
    """The running turn, else the newest one."""
    last_prepared_id: str | None
    unresolved: tuple[tuple[OpenCall, str], ...]
    """Calls without a final result, each with the id of its message, oldest first."""
    open_compaction_id: str | None
    learned: LearnedLimit | None
    """The smallest limit that was reported of the model."""


async def resume_session(resources: Resources, session_id: str) -> tuple[Session, Resume]:
    """A session and what is open in it.

    Raises:
        SessionNotFound: There is none of that id.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        turns = TurnRepository(connection, session.incarnation)
        running = await turns.running()
        messages = MessageRepository(connection, session.incarnation)
        calls = sorted((await messages.open_calls()).values(), key=lambda call: call.sequence)
        ids = await messages.ids_at({call.sequence for call in calls})
        pending = await CompactionRepository(connection, session.incarnation).pending()
        return session, Resume(
            turn=running[-1] if running else await turns.latest(),
            last_prepared_id=await PreparedRepository(connection, session.incarnation).last_id(),
            unresolved=tuple((call, ids[call.sequence]) for call in calls),
            open_compaction_id=None if pending is None else pending.id,
            learned=await learned_limit(connection, session.model),
        )
