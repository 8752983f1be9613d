"""Install a summary: checkpoint, view and window change in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.checkpoint_items import Anchored, CheckpointItem, checkpoint_items
from app.compaction.record import Checkpoint, Compaction, Plan
from app.compaction.runtime_state import state_json
from app.compaction.style import Folded
from app.compaction.view import WHOLE
from app.core.errors import ConversationMoved
from app.core.items import Item
from app.core.messages import Real
from app.core.stored import Session
from app.services.compaction_answers import completed_answer
from app.services.in_force import stored_in_force
from app.services.plans import planned_items
from app.services.profiles import policy_of, profile_of, style_of
from app.services.receipts import receipt
from app.services.resources import Resources, counter_of
from app.services.runtime import reminder_of, runtime_now
from app.services.same_window import is_same_window
from app.services.situations import Situation
from app.services.summary_bills import Bill, with_bill
from app.services.supersede import supersede_pending
from app.services.views import items_of_checkpoint, view_items
from app.services.windows import advanced
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection
from app.store.messages import MessageRepository
from app.store.sessions import SessionWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """An accepted summary, and what a model took to write it."""

    text: str
    usage: Mapping[str, object] | None
    """As it was given."""
    bill: Bill


async def install_summary(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    compaction: Compaction,
    summary: Summary,
    now: datetime,
) -> tuple[Compaction, Mapping[str, object]]:
    """The completed compaction and its answer; the session is saved, the compaction not yet.

    Raises:
        ConversationMoved: The view that the plan was made from is no longer shown.
        StateError: The runtime state cannot be collected.
    """
    session = with_bill(situation.session, summary.bill)
    plan = await _standing_plan(connection, session, compaction)
    checkpoint, again = await _checkpoint(
        resources, connection, situation, compaction, plan, summary.text, now
    )
    # What a rewind hides behind the fold stays hidden.
    view = situation.view.folded(compaction.id, plan.through_sequence, again)
    checkpoint = replace(checkpoint, replaced_through_sequence=view.open_after)
    completed = replace(
        compaction,
        status="completed",
        claim=None,
        checkpoint=checkpoint,
        view=view,
        updated_at=now,
    )
    after = await items_after(resources, connection, session, completed)
    completed = replace(completed, tokens=receipt(situation.items, after, summary.usage))
    changed = await advanced(resources, connection, session, completed, after, summary.bill, now)
    await SessionWriter(connection).save(changed)
    compactions = CompactionWriter(connection, session.incarnation)
    await supersede_pending(compactions, now, but=completed.id)
    return completed, completed_answer(completed, checkpoint, changed)


async def _standing_plan(
    connection: WriteConnection, session: Session, compaction: Compaction
) -> Plan:
    """The plan, where its window is still shown: tool pairs may have given way meanwhile."""
    plan = compaction.plan
    compactions = CompactionWriter(connection, session.incarnation)
    if plan is None or not await is_same_window(compactions, plan.view_id, session.view_id):
        raise ConversationMoved(
            "the view that the compaction was planned on is no longer shown",
            message_count=session.message_count,
        )
    return plan


async def items_after(
    resources: Resources, connection: WriteConnection, session: Session, completed: Compaction
) -> tuple[Item, ...]:
    """What the session shows once a compaction is installed."""
    counter = counter_of(profile_of(session))
    # The checkpoint is not committed yet, so it must not be remembered: another one may take its
    # place under the same id.
    standing = await items_of_checkpoint(connection, session.incarnation, completed, counter)
    behind = replace(completed.view or WHOLE, checkpoint_id=None)
    shown = await view_items(
        resources.checkpoints,
        connection,
        session.incarnation,
        behind,
        session.message_count,
        counter,
        session.visibility_ordinal,
    )
    return (*standing, *shown)


async def _checkpoint(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    compaction: Compaction,
    plan: Plan,
    summary: str,
    now: datetime,
) -> tuple[Checkpoint, tuple[int, ...]]:
    """The checkpoint, and the sequences of the folded messages that stand among its items."""
    session, style = situation.session, style_of(policy_of(situation.session))
    state = await runtime_now(connection, session, compaction.turn_id)
    reminder = reminder_of(state) if style.reminds else None
    folded = await _folded(resources, connection, situation, plan)
    standing = style.replacement(
        Folded(
            compaction_id=compaction.id,
            items=folded,
            replaced_through_sequence=plan.through_sequence,
            phase=compaction.phase,
            summary=summary,
            reminder=reminder,
            context=await stored_in_force(connection, session, folded),
            counter=counter_of(profile_of(session)),
        )
    )
    checkpoint = Checkpoint(
        sequence=await CompactionWriter(connection, session.incarnation).next_checkpoint_sequence(),
        through_sequence=plan.through_sequence,
        replaced_through_sequence=plan.through_sequence,
        last_user_message_id=plan.anchor_message_id,
        last_user_message_sequence=plan.anchor_sequence,
        summary=summary,
        runtime_reminder=reminder,
        runtime_state=state_json(state),
        created_at=now,
        items=await _kept(connection, session, compaction.id, plan, standing),
    )
    return checkpoint, _sequences(standing)


async def _folded(
    resources: Resources, connection: WriteConnection, situation: Situation, plan: Plan
) -> tuple[Item, ...]:
    """What a plan folds: the summary speaks of what was shown then, and the plan counts in it."""
    if plan.view_id == situation.session.view_id:
        return situation.items[: plan.keep_from]
    planned = await planned_items(resources, connection, situation.session, plan)
    return planned[: plan.keep_from]


async def _kept(
    connection: WriteConnection,
    session: Session,
    compaction_id: str,
    plan: Plan,
    standing: Sequence[Item],
) -> tuple[CheckpointItem, ...]:
    anchor = None
    if plan.anchor_message_id is not None:
        messages = MessageRepository(connection, session.incarnation)
        stored = await messages.get(plan.anchor_message_id)
        anchor = Anchored(message_id=plan.anchor_message_id, content=stored.message.content)
    return checkpoint_items(standing, compaction_id, anchor)


def _sequences(standing: Sequence[Item]) -> tuple[int, ...]:
    sequences = (item.source.sequence for item in standing if isinstance(item.source, Real))
    return tuple(sorted(sequence for sequence in sequences if sequence is not None))
