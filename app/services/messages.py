"""Read the messages of a session as they were appended."""

from app.compaction.view import WHOLE, Coverage
from app.core.errors import MessageNotFound
from app.core.ids import is_stored_message_id
from app.core.stored import Session, StoredMessage
from app.services.resources import Resources
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageFilter, MessageRepository, Order
from app.store.sessions import SessionRepository


async def list_messages(
    resources: Resources,
    session_id: str,
    wanted: MessageFilter,
    order: Order,
    after: int | None,
    limit: int,
) -> tuple[list[StoredMessage], Coverage]:
    """Up to `limit` messages of a filter that come after a sequence in that order.

    Raises:
        SessionNotFound: There is no such session.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        messages = MessageRepository(connection, session.incarnation)
        found = await messages.page(wanted, order, after, limit)
        return found, await coverage_of(connection, session)


async def get_message(
    resources: Resources, session_id: str, message_id: str
) -> tuple[StoredMessage, Coverage]:
    """The original of a message.

    Raises:
        SessionNotFound, MessageNotFound: There is no such session or message.
    """
    if not is_stored_message_id(message_id):
        raise MessageNotFound(f"there is no message {message_id!r}")
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        found = await MessageRepository(connection, session.incarnation).get(message_id)
        return found, await coverage_of(connection, session)


async def coverage_of(connection: ReadConnection, session: Session) -> Coverage:
    """Which messages of a session its requests no longer show."""
    if session.view_id is None:
        return Coverage(view=WHOLE, view_id=None)
    shown = await CompactionRepository(connection, session.incarnation).get(session.view_id)
    return Coverage(view=shown.view or WHOLE, view_id=shown.window_view_id)
