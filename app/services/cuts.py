"""Legal cuts: a session is never cut between a call and its results."""

from app.store.connections import ReadConnection
from app.store.messages import MessageRepository


async def legal_cut(connection: ReadConnection, incarnation: str, through_sequence: int) -> int:
    """The highest sequence at or below the wanted one at which no tool round is open.

    Where the message behind the cut is a tool message, the whole round is
    left out: its results would lose their calls, or its calls their results.
    """
    messages = MessageRepository(connection, incarnation)
    if await messages.role_at(through_sequence + 1) != "tool":
        return through_sequence
    return await messages.last_sequence_of_role("assistant", through_sequence) - 1
