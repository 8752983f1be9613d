"""Who may replace a session's history, and what that does to a compaction under way."""

from dataclasses import replace
from datetime import datetime

from app.compaction.record import BACKGROUND_KINDS
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


async def supersede_pending(compactions: CompactionWriter, now: datetime) -> None:
    """End the compaction that is under way, if there is one: its plan no longer stands."""
    pending = await compactions.pending()
    if pending is not None:
        await compactions.save(replace(pending, status="superseded", claim=None, updated_at=now))


async def supersede_background(compactions: CompactionWriter, now: datetime) -> None:
    """End what is under way in the background: another view is shown than it was planned on."""
    for kind in sorted(BACKGROUND_KINDS):
        for pending in await compactions.of_kind(kind, "pending"):
            ended = replace(pending, status="superseded", claim=None, updated_at=now)
            await compactions.save(ended)
