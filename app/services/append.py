"""Append messages to a session, all or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.refusals import HistoryReplaced
from app.core.append import AppendState, Draft, plan_append
from app.core.chat_state import OpenCall
from app.core.items import Item
from app.core.stored import NewMessage, Session, StoredMessage, item_of_message
from app.services.incoming import IncomingMessage, draft_messages
from app.services.profiles import policy_of, profile_of
from app.services.resources import Resources, counter_of
from app.services.same_window import is_same_window
from app.services.turns import TurnPoint, touch_turn
from app.store.compactions import CompactionRepository
from app.store.connections import WriteConnection
from app.store.messages import MessageWriter
from app.store.sessions import SessionRepository, SessionWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the caller believes of the session that it appends to."""

    message_count: int | None = None
    base_compaction_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What an append did. `session` is the session after it."""

    session: Session
    placed: tuple[tuple[str, int], ...]
    arrived: tuple[StoredMessage, ...]
    hidden: tuple[tuple[str, str], ...] = ()
    """Message and call id of the new results whose calls requests no longer show."""

    @property
    def items(self) -> tuple[Item, ...]:
        """What of the new messages a model may see."""
        return tuple(
            item_of_message(stored) for stored in self.arrived if stored.message.agent_visible
        )


async def append_messages(
    resources: Resources,
    session_id: str,
    incoming: Sequence[IncomingMessage],
    expected: Expected,
) -> Appended:
    """Append a batch, or change nothing.

    Raises:
        SessionNotFound: There is no such session.
        ContextError: The batch cannot be appended (`plan_append`).
    """
    async with resources.database.reading() as reader:
        session = await SessionRepository(reader).get(session_id)
    counter = counter_of(profile_of(session))
    drafts = await draft_messages(resources, incoming, counter)
    async with resources.database.writing() as connection:
        writer = SessionWriter(connection)
        session = await writer.lock(session_id)
        appended = await append_drafts(connection, session, drafts, expected, resources.now())
        if appended.arrived:
            await writer.save(replace(appended.session, version=session.version + 1))
        return appended


async def append_drafts(
    connection: WriteConnection,
    session: Session,
    drafts: Sequence[Draft],
    expected: Expected,
    now: datetime,
) -> Appended:
    """Append inside a transaction that has locked the session; its row is not saved."""
    messages = MessageWriter(connection, session.incarnation)
    shaping = policy_of(session).shaping
    state = AppendState(
        message_count=session.message_count,
        existing=await messages.by_ids([draft.message.id for draft in drafts]),
        open_calls=await messages.open_calls(),
        accepts_data_blocks=profile_of(session).accepts_data_blocks,
        duplicate_call_ids=shaping.duplicate_call_ids,
        unsupported_data=shaping.unsupported_data,
    )
    plan = plan_append(drafts, state, expected.message_count)
    if plan.arrived:
        await _refuse_other_base(connection, session, expected.base_compaction_id)
    hidden = await _hidden_results(connection, session, plan.arrived, state.open_calls)
    await _touch_turns(connection, session, plan.arrived, now)
    after, arrived = await store_messages(connection, session, plan.arrived, now)
    await messages.replace_open_calls(state.open_calls, plan.open_calls)
    return Appended(session=after, placed=plan.placed, arrived=arrived, hidden=hidden)


async def _refuse_other_base(
    connection: WriteConnection, session: Session, base: str | None
) -> None:
    """Refuse what was said to another window than the one shown."""
    compactions = CompactionRepository(connection, session.incarnation)
    if base is None or await is_same_window(compactions, base, session.view_id):
        return
    raise HistoryReplaced(
        f"the conversation was replaced by {session.view_id}", base=session.view_id
    )


async def _hidden_results(
    connection: WriteConnection,
    session: Session,
    new: Sequence[NewMessage],
    open_calls: Mapping[str, OpenCall],
) -> tuple[tuple[str, str], ...]:
    answers = [
        (message.id, open_calls[result.id])
        for message in new
        for result in message.facts.results
        if result.id in open_calls
    ]
    if session.view_id is None or not answers:
        return ()
    view = await CompactionRepository(connection, session.incarnation).view(session.view_id)
    return tuple(
        (message_id, call.id) for message_id, call in answers if not view.shows(call.sequence)
    )


async def _touch_turns(
    connection: WriteConnection, session: Session, new: Sequence[NewMessage], now: datetime
) -> None:
    for turn_id in sorted({message.turn_id for message in new if message.turn_id is not None}):
        point = TurnPoint(turn_id=turn_id, model_call=None, sample=None)
        await touch_turn(connection, session, point, now)


async def store_messages(
    connection: WriteConnection, session: Session, new: Sequence[NewMessage], now: datetime
) -> tuple[Session, tuple[StoredMessage, ...]]:
    """Store messages behind a session's last; the session as it is then, not saved."""
    if not new:
        return session, ()
    await MessageWriter(connection, session.incarnation).append(
        new, session.message_count, session.cumulative_json_bytes
    )
    turn_ids = [message.turn_id for message in new if message.turn_id is not None]
    after = replace(
        session,
        updated_at=now,
        message_count=session.message_count + len(new),
        cumulative_json_bytes=session.cumulative_json_bytes
        + sum(message.facts.json_bytes for message in new),
        current_turn_id=turn_ids[-1] if turn_ids else session.current_turn_id,
    )
    stored = tuple(
        StoredMessage(sequence=sequence, message=message)
        for sequence, message in enumerate(new, start=session.message_count + 1)
    )
    return after, stored
