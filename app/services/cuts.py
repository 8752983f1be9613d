"""Legal cuts of stored sessions."""

from app.compaction.cut import legal_cut
from app.core.stored import Session
from app.store.connections import ReadConnection
from app.store.messages import MessageRepository


async def session_cut(connection: ReadConnection, session: Session, through_sequence: int) -> int:
    """The highest legal cut of a session at or below a sequence."""
    messages = MessageRepository(connection, session.incarnation)
    return legal_cut(await messages.items(0, session.message_count), through_sequence)
