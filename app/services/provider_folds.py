"""Record what a provider folded of a context that it owns: at once, without a claim.

Source: docs/semantics/provider-context.md#folds-of-the-provider.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.provider_fold import ProviderFold, folded_view, folds_something
from app.compaction.record import Checkpoint, Compaction, CompactionPhase, blank_compaction
from app.compaction.refusals import InvalidBoundary
from app.compaction.view import View
from app.services.compaction_ids import compaction_id
from app.services.events import tell_of_completion
from app.services.install import items_after
from app.services.receipts import receipt
from app.services.resources import Resources
from app.services.situations import Situation, caught_up, read_situation
from app.services.summary_bills import NO_BILL
from app.services.supersede import supersede_pending
from app.services.turns import TurnPoint, touch_turn
from app.services.windows import advanced
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection
from app.store.sessions import SessionWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldReport:
    """A fold, and where in a turn the provider made it."""

    fold: ProviderFold
    turn_id: str | None
    model_call: int | None

    @property
    def phase(self) -> CompactionPhase:
        """Inside a turn a provider folds in the middle of a call."""
        return "standalone" if self.turn_id is None else "mid_turn"


async def record_provider_fold(
    resources: Resources, session_id: str, report: FoldReport
) -> tuple[Compaction, bool]:
    """The completed compaction, and whether it was recorded now; an equal repeat gives the first.

    It may come while a turn is running: what the provider holds goes on.

    Raises:
        SessionNotFound: There is no such session.
        InvalidBoundary: The session has no such sequence, or nothing that is shown is folded.
    """
    async with resources.database.reading() as reader:
        seen = await read_situation(resources, reader, session_id)
    async with resources.database.writing() as connection:
        locked = await SessionWriter(connection).lock(session_id)
        compactions = CompactionWriter(connection, locked.incarnation)
        new_id = compaction_id(resources, locked.incarnation, "provider", report.fold.key)
        made = await compactions.find(new_id)
        if made is not None:
            return made, False
        now = resources.now()
        if report.turn_id is not None:
            # The report of a fold must not move the turn to its call.
            point = TurnPoint(turn_id=report.turn_id, model_call=None, sample=None)
            await touch_turn(connection, locked, point, now)
        situation = await caught_up(resources, connection, seen, locked)
        await _refuse_boundary(connection, situation, report.fold.through_sequence)
        await supersede_pending(compactions, now)
        return await _installed(resources, connection, situation, report, new_id, now), True


async def _refuse_boundary(
    connection: WriteConnection, situation: Situation, through_sequence: int
) -> None:
    session, checkpoint_id = situation.session, situation.view.checkpoint_id
    if through_sequence > session.message_count:
        raise InvalidBoundary(
            f"the session holds {session.message_count} messages",
            through_sequence=through_sequence,
        )
    before = 0
    if checkpoint_id is not None:
        compactions = CompactionWriter(connection, session.incarnation)
        checkpoint = (await compactions.get(checkpoint_id)).checkpoint
        before = 0 if checkpoint is None else checkpoint.through_sequence
    if through_sequence <= before or not folds_something(situation.items, through_sequence):
        raise InvalidBoundary(
            f"nothing that is shown lies at or below {through_sequence}",
            through_sequence=through_sequence,
        )


async def _installed(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    report: FoldReport,
    new_id: str,
    now: datetime,
) -> Compaction:
    session = situation.session
    compactions = CompactionWriter(connection, session.incarnation)
    through = report.fold.through_sequence
    view = folded_view(situation.view, situation.items, new_id, through)
    row = replace(
        blank_compaction(new_id, await compactions.next_ordinal(), "provider", now),
        status="completed",
        turn_id=report.turn_id,
        model_call=report.model_call,
        phase=report.phase,
        previous_view_id=session.view_id,
        checkpoint=await _checkpoint(compactions, report.fold, view, now),
        view=view,
    )
    after = await items_after(resources, connection, session, row)
    row = replace(row, tokens=receipt(situation.items, after, None))
    await compactions.save(row)
    changed = await advanced(resources, connection, session, row, after, NO_BILL, now)
    await SessionWriter(connection).save(changed)
    await tell_of_completion(resources, connection, changed, row, now)
    return row


async def _checkpoint(
    compactions: CompactionWriter, fold: ProviderFold, view: View, now: datetime
) -> Checkpoint:
    latest = await compactions.latest_checkpoint()
    before = None if latest is None else latest.checkpoint
    return Checkpoint(
        sequence=await compactions.next_checkpoint_sequence(),
        through_sequence=fold.through_sequence,
        replaced_through_sequence=view.open_after,
        last_user_message_id=None,
        last_user_message_sequence=None,
        summary=None,
        runtime_reminder=None,
        # Whoever compacts next goes on from the state of the compaction before.
        runtime_state=None if before is None else before.runtime_state,
        created_at=now,
        items=(fold.item,),
    )
