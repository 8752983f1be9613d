"""Legal cuts of stored sessions."""

from app.compaction.cut import legal_cut
from app.core.stored import Session, item_of_message
from app.store.connections import ReadConnection
from app.store.messages import MessageFilter, MessageRepository


async def session_cut(connection: ReadConnection, session: Session, through_sequence: int) -> int:
    """The highest legal cut of a session at or below a sequence."""
    messages = MessageRepository(connection, session.incarnation)
    # A hidden call may be shown again, so who sees a message makes no difference.
    stored = await messages.page(MessageFilter(), "asc", None, session.message_count)
    return legal_cut([item_of_message(each) for each in stored], through_sequence)
