"""Look at a session without changing it: the preview, and calls prepared before."""

from dataclasses import dataclass

from app.core.engine import PreparedCall
from app.core.errors import PreparedNotFound
from app.core.ids import is_prepared_id
from app.core.stored import LearnedLimit, Session
from app.services.calls import Standing, make_call
from app.services.models import learned_limit
from app.services.prepare import with_background
from app.services.resources import Resources
from app.services.situations import read_situation, recorded_items
from app.services.wordings import Wording, wording_of
from app.store.messages import MessageRepository
from app.store.prepared import PreparedRepository
from app.store.sessions import SessionRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What the next call would be, from what is stored now."""

    session: Session
    call: PreparedCall
    turn_ids: dict[str, str | None]
    learned: LearnedLimit | None
    """The smallest limit that was reported of the model."""


async def preview_call(resources: Resources, session_id: str) -> Preview:
    """The next call of a session through prepare's own engine; nothing is sampled or stored.

    Raises:
        SessionNotFound: There is no such session.
        ContextError: The request cannot be assembled.
    """
    async with resources.database.reading() as connection:
        situation = await read_situation(resources, connection, session_id)
        session = situation.session
        messages = MessageRepository(connection, session.incarnation)
        turn_ids = await messages.turn_ids(session.message_count)
        made = await make_call(
            resources,
            connection,
            situation.recipe({}),
            situation.items,
            session.incarnation,
            Standing(usage=session.usage),
        )
        made = await with_background(connection, situation, made, None, resources.now())
        learned = await learned_limit(connection, session.model)
    return Preview(session=session, call=made.call, turn_ids=turn_ids, learned=learned)


async def rebuild_call(resources: Resources, session_id: str, prepared_id: str) -> Wording:
    """A call as it was prepared, made again from its recipe, in the words of its format.

    Raises:
        SessionNotFound, PreparedNotFound: There is no such session or call.
    """
    if not is_prepared_id(prepared_id):
        raise PreparedNotFound(f"there is no prepared call {prepared_id[:100]!r}")
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        recorded = await PreparedRepository(connection, session.incarnation).get(prepared_id)
        items = await recorded_items(resources, connection, session.incarnation, recorded.recipe)
        made = await make_call(resources, connection, recorded.recipe, items, session.incarnation)
    return await wording_of(made.call, recorded.recipe.format)
