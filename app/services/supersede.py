"""Who may replace a session's history, and what that does to a compaction under way."""

from dataclasses import replace
from datetime import datetime

from app.compaction.refusals import SessionActive
from app.core.stored import Session
from app.store.compactions import CompactionWriter
from app.store.connections import ReadConnection
from app.store.turns import TurnRepository


async def refuse_live_turn(
    connection: ReadConnection, session: Session, act: str, now: datetime
) -> None:
    """Refuse while a turn is running; a lapsed lease no longer blocks.

    Raises:
        SessionActive: Names the turn.
    """
    for turn in await TurnRepository(connection, session.incarnation).running():
        if turn.is_live(now):
            raise SessionActive(
                f"session has an active turn and cannot be {act}: {turn.id}", turn_id=turn.id
            )


async def supersede_pending(
    compactions: CompactionWriter, now: datetime, but: str | None = None
) -> None:
    """End what is under way, but for one compaction: the plans no longer stand."""
    for pending in await compactions.under_way():
        if pending.id != but:
            ended = replace(pending, status="superseded", claim=None, updated_at=now)
            await compactions.save(ended)
