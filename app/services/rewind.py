"""Rewind: show less, or show again, without a stored message touched.

Source: docs/semantics/compaction.md#rewind.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.checkpoint_items import with_reminder
from app.compaction.record import Checkpoint, Compaction, blank_compaction
from app.compaction.refusals import (
    CompactionNotCurrent,
    CompactionNotRestorable,
    InvalidBoundary,
)
from app.compaction.runtime_state import state_json
from app.compaction.view import WHOLE, View
from app.core.items import Item
from app.core.stored import Session
from app.services.baselines import rebase_world_state
from app.services.compaction_ids import compaction_id
from app.services.cuts import session_cut
from app.services.profiles import profile_of
from app.services.resources import Resources, counter_of
from app.services.runtime import reminder_of, runtime_after
from app.services.summary_bills import NO_BILL
from app.services.supersede import refuse_live_turn, supersede_pending
from app.services.views import view_items
from app.services.windows import advanced
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection
from app.store.sessions import SessionWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindTarget:
    """Where to go back to; exactly one of the fields is not None."""

    compaction_id: str | None
    through_sequence: int | None
    undo_compaction: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Goal:
    """The view to install, and what its checkpoint says."""

    view: View
    parent: Compaction | None
    through_sequence: int


async def rewind_session(
    resources: Resources, session_id: str, target: RewindTarget, key: str | None
) -> Compaction:
    """Install the view of a target; messages that come later stay after it.

    A repeat with the same idempotency key gives the rewind that is there.

    Raises:
        SessionNotFound, CompactionNotFound: There is no such session or target.
        SessionActive: A turn is running.
        CompactionNotRestorable: The target has no summary, and so no anchor.
        CompactionNotCurrent: An undo names another view than the one shown.
        InvalidBoundary: The session has no such sequence.
    """
    now = resources.now()
    async with resources.database.writing() as connection:
        sessions = SessionWriter(connection)
        session = await sessions.lock(session_id)
        compactions = CompactionWriter(connection, session.incarnation)
        new_id = compaction_id(resources, session.incarnation, "rewind", key)
        # Only an id that was made from a key can be there already.
        made = await compactions.find(new_id)
        if made is not None:
            return made
        await refuse_live_turn(connection, session, "rewound", now)
        goal = await _goal(connection, session, target)
        await supersede_pending(compactions, now)
        row = await _row(new_id, connection, session, goal, now)
        await compactions.save(row)
        await rebase_world_state(connection, session, row.view or WHOLE)
        items = await _items_after(resources, connection, session, row.view or WHOLE)
        changed = await advanced(resources, connection, session, row, items, NO_BILL, now)
        await sessions.save(changed)
        return row


async def _items_after(
    resources: Resources, connection: WriteConnection, session: Session, view: View
) -> tuple[Item, ...]:
    return await view_items(
        resources.checkpoints,
        connection,
        session.incarnation,
        view,
        session.message_count,
        counter_of(profile_of(session)),
        session.visibility_ordinal,
    )


async def _goal(connection: WriteConnection, session: Session, target: RewindTarget) -> _Goal:
    compactions = CompactionWriter(connection, session.incarnation)
    if target.compaction_id is not None:
        return _restored(await compactions.get(target.compaction_id), session)
    if target.undo_compaction is not None:
        return await _undone(compactions, session, target.undo_compaction)
    return await _earlier(connection, session, target.through_sequence or 0)


def _restored(parent: Compaction, session: Session) -> _Goal:
    checkpoint = parent.checkpoint
    if checkpoint is None or not checkpoint.items or parent.kind == "tool_pairs":
        raise CompactionNotRestorable(
            "conversation compaction cannot be restored because it has no last user anchor: "
            f"{parent.id}",
            compaction_id=parent.id,
        )
    return _Goal(
        view=View(
            checkpoint_id=parent.id,
            ranges=(),
            open_after=session.message_count,
            again=() if parent.view is None else parent.view.again,
        ),
        parent=parent,
        through_sequence=checkpoint.through_sequence,
    )


async def _undone(compactions: CompactionWriter, session: Session, undo: str) -> _Goal:
    parent = await compactions.get(undo)
    if parent.id != session.view_id:
        raise CompactionNotCurrent(
            f"only the compaction whose view is shown can be undone: {session.view_id}",
            compaction_id=undo,
        )
    view = await compactions.view(parent.previous_view_id)
    return _Goal(view=view, parent=parent, through_sequence=view.open_after)


async def _earlier(connection: WriteConnection, session: Session, through: int) -> _Goal:
    if through > session.message_count:
        raise InvalidBoundary(
            f"the session holds {session.message_count} messages", through_sequence=through
        )
    cut = await session_cut(connection, session, through)
    compactions = CompactionWriter(connection, session.incarnation)
    installed = await compactions.installed_at(cut)
    before = WHOLE if installed is None or installed.view is None else installed.view
    view = before.through(cut).closed_at(session.message_count)
    if installed is not None and installed.kind == "tool_pairs" and view.checkpoint_id is not None:
        # What is gone back to is the fold that the pairs came after.
        installed = await compactions.get(view.checkpoint_id)
    return _Goal(view=view, parent=installed, through_sequence=cut)


async def _row(
    new_id: str,
    connection: WriteConnection,
    session: Session,
    goal: _Goal,
    now: datetime,
) -> Compaction:
    compactions = CompactionWriter(connection, session.incarnation)
    checkpoint = Checkpoint(
        sequence=await compactions.next_checkpoint_sequence(),
        through_sequence=goal.through_sequence,
        replaced_through_sequence=session.message_count,
        last_user_message_id=None,
        last_user_message_sequence=None,
        summary=None,
        runtime_reminder=None,
        runtime_state=None,
        created_at=now,
    )
    view = goal.view
    if goal.parent is not None and goal.view.checkpoint_id == goal.parent.id:
        checkpoint = await _copied(connection, session, goal.parent, checkpoint)
        view = replace(view, checkpoint_id=new_id)
    blank = blank_compaction(new_id, await compactions.next_ordinal(), "rewind", now)
    return replace(
        blank,
        status="completed",
        parent_id=None if goal.parent is None else goal.parent.id,
        previous_view_id=session.view_id,
        checkpoint=checkpoint,
        view=view,
    )


async def _copied(
    connection: WriteConnection, session: Session, parent: Compaction, checkpoint: Checkpoint
) -> Checkpoint:
    """The parent's checkpoint with the runtime state as it is now."""
    before = parent.checkpoint
    assert before is not None
    state = await runtime_after(connection, session, before.runtime_state, None)
    reminder, items = before.runtime_reminder, before.items
    if reminder is not None:
        reminder = reminder_of(state)
        items = with_reminder(items, reminder)
    return replace(
        checkpoint,
        last_user_message_id=before.last_user_message_id,
        last_user_message_sequence=before.last_user_message_sequence,
        summary=before.summary,
        runtime_state=state_json(state),
        runtime_reminder=reminder,
        items=items,
    )
