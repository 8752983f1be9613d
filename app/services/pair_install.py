"""Install summaries of tool pairs: another view of the same window, in one transaction.

Source: docs/semantics/goose.md#tool-pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.checkpoint_items import items_again
from app.compaction.pair_batch import at_place, made_summary
from app.compaction.record import Checkpoint, Compaction, Plan, PlannedPair
from app.compaction.view import PairPlace
from app.core.errors import ConversationMoved
from app.core.items import Item, stored_sequence
from app.core.stored import Session
from app.services.compaction_answers import completed_answer
from app.services.pair_batches import messages_of
from app.services.profiles import profile_of
from app.services.receipts import receipt
from app.services.resources import counter_of
from app.services.same_window import window_view_of
from app.services.situations import Situation
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection
from app.store.sessions import SessionWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSummary:
    """A pair and the summary that came for it."""

    pair: PlannedPair
    text: str


def installable(
    situation: Situation, plan: Plan, summaries: Sequence[PairSummary]
) -> tuple[PairSummary, ...]:
    """The summaries whose pairs are still shown whole.

    Raises:
        ConversationMoved: None is, or the view that the batch was planned on is shown no more.
    """
    session = situation.session
    found = tuple(
        summary
        for summary in summaries
        if len(messages_of(situation.items, summary.pair)) == len(summary.pair.sequences)
    )
    if session.view_id != plan.view_id or not found:
        raise ConversationMoved(
            "the view that the tool pairs were planned on is no longer shown",
            message_count=session.message_count,
        )
    return found


async def install_pairs(
    connection: WriteConnection,
    situation: Situation,
    session: Session,
    compaction: Compaction,
    plan: Plan,
    summaries: Sequence[PairSummary],
    now: datetime,
) -> tuple[Compaction, Mapping[str, object]]:
    """The completed batch and its answer; the session is saved, the batch not yet.

    Args:
        connection: Of the transaction that has locked the session.
        situation: The session as it is shown.
        session: The same with the bills of the summaries in its totals.
        compaction: The batch.
        plan: Its plan, which stands.
        summaries: What `installable` found, at least one.
        now: When it is.
    """
    checkpoint = await _checkpoint(connection, session, plan, summaries, now)
    places = [
        PairPlace(compaction_id=compaction.id, index=index, sequences=summary.pair.sequences)
        for index, summary in enumerate(summaries)
    ]
    compactions = CompactionWriter(connection, session.incarnation)
    stands_on = await window_view_of(compactions, session.view_id)
    after = _items_after(situation, compaction, checkpoint, places)
    completed = replace(
        compaction,
        status="completed",
        claim=None,
        checkpoint=checkpoint,
        tokens=receipt(situation.items, after, None),
        view=situation.view.with_pairs(places, stands_on),
        updated_at=now,
    )
    changed = replace(session, view_id=compaction.id, version=session.version + 1, updated_at=now)
    await SessionWriter(connection).save(changed)
    return completed, completed_answer(completed, checkpoint, changed)


async def _checkpoint(
    connection: WriteConnection,
    session: Session,
    plan: Plan,
    summaries: Sequence[PairSummary],
    now: datetime,
) -> Checkpoint:
    """What stands for the pairs. It is no fold: it has no summary, anchor or state of its own."""
    compactions = CompactionWriter(connection, session.incarnation)
    return Checkpoint(
        sequence=await compactions.next_checkpoint_sequence(),
        through_sequence=max(summary.pair.sequences[-1] for summary in summaries),
        # Before the batch was planned the session showed its pairs.
        replaced_through_sequence=plan.shown_through,
        last_user_message_id=None,
        last_user_message_sequence=None,
        summary=None,
        runtime_reminder=None,
        runtime_state=None,
        created_at=now,
        items=tuple(made_summary(number, each.text) for number, each in enumerate(summaries, 1)),
    )


def _items_after(
    situation: Situation,
    compaction: Compaction,
    checkpoint: Checkpoint,
    places: Sequence[PairPlace],
) -> list[Item]:
    """What the session shows once the summaries stand for their pairs."""
    counter = counter_of(profile_of(situation.session))
    made = items_again(checkpoint.items, {}, compaction.id, checkpoint.through_sequence, counter)
    hidden = {sequence for place in places for sequence in place.sequences}
    summaries = [at_place(made[place.index], place.sequence) for place in places]
    kept = [item for item in situation.items if stored_sequence(item) not in hidden]
    return [*kept, *summaries]
