"""Look at the compactions of a session."""

import asyncio

from app.compaction.record import Compaction
from app.services.resources import Resources
from app.store.compactions import CompactionRepository
from app.store.messages import Order
from app.store.sessions import SessionRepository

POLL_SECONDS = 0.2
"""How often a waiting read looks again; another process may have ended the compaction."""


async def list_compactions(
    resources: Resources, session_id: str, order: Order, after: int | None, limit: int
) -> list[Compaction]:
    """Up to `limit` compactions that come after an ordinal.

    Raises:
        SessionNotFound: There is no such session.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        compactions = CompactionRepository(connection, session.incarnation)
        return await compactions.page(order, after, limit)


async def wait_for_compaction(
    resources: Resources, session_id: str, compaction_id: str, wait_seconds: float
) -> Compaction:
    """The compaction once it is no longer pending, or as it is when the time is up.

    Raises:
        SessionNotFound, CompactionNotFound: There is no such session or compaction.
    """
    ends = asyncio.get_running_loop().time() + wait_seconds
    while True:
        async with resources.database.reading() as connection:
            session = await SessionRepository(connection).get(session_id)
            compactions = CompactionRepository(connection, session.incarnation)
            found = await compactions.get(compaction_id)
        if found.status != "pending" or asyncio.get_running_loop().time() >= ends:
            return found
        await asyncio.sleep(POLL_SECONDS)
