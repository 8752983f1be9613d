"""Read back what compactions cover, and what a session shows or showed.

Source: docs/semantics/compaction.md#reading-back.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from app.compaction.record import Compaction
from app.compaction.refusals import InvalidBoundary, NoCompaction
from app.compaction.view import WHOLE, Coverage, View
from app.core.items import Item
from app.core.messages import Real
from app.core.stored import Session, StoredMessage, item_of_message
from app.core.visibility import AGENT_ONLY, Shown, Visibility, users_view
from app.services.messages import coverage_of
from app.services.profiles import profile_of
from app.services.resources import Resources, counter_of
from app.services.views import view_items
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageFilter, MessageRepository, Stamp
from app.store.sessions import SessionRepository

ReplayReader: TypeAlias = Literal["agent", "user"]
"""Whose projection is replayed: the one that requests are made of, or that of people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    """Messages that a checkpoint covers, as they were appended."""

    session: Session
    compaction_id: str
    through_sequence: int
    messages: tuple[StoredMessage, ...]
    coverage: Coverage
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """What to replay: the newest view, a checkpoint alone, or the session as it was."""

    compaction_id: str | None
    through_sequence: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedMessage:
    """A message as its reader sees it. Unknown of what a compaction made is None."""

    item: Item
    turn_id: str | None
    created_at: datetime | None
    visibility: Visibility
    """Who sees it in the projection that is replayed, and not what was said of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a model or people saw, or would see."""

    checkpoint_id: str | None
    through_sequence: int
    messages: tuple[ReplayedMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selected:
    """The view that a selector names, and its last message."""

    view: View
    through_sequence: int


async def read_history(
    resources: Resources,
    session_id: str,
    compaction_id: str | None,
    after_sequence: int,
    limit: int,
) -> HistoryPage:
    """A page of the messages that a checkpoint covers; the newest one by default.

    Raises:
        SessionNotFound, CompactionNotFound: There is no such session or compaction.
        NoCompaction: The session was never compacted.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        compactions = CompactionRepository(connection, session.incarnation)
        found = (
            await compactions.latest_checkpoint()
            if compaction_id is None
            else await compactions.get(compaction_id)
        )
        if found is None or found.checkpoint is None:
            raise NoCompaction("session has no conversation compaction to read back")
        through = found.checkpoint.through_sequence
        messages = MessageRepository(connection, session.incarnation)
        if found.kind == "tool_pairs":
            page = await _of_pairs(messages, found, after_sequence)
        else:
            page = await messages.page(MessageFilter(), "asc", after_sequence, limit + 1)
        coverage = await coverage_of(connection, session)
    covered = [stored for stored in page if stored.sequence <= through]
    return HistoryPage(
        session=session,
        compaction_id=found.id,
        through_sequence=through,
        messages=tuple(covered[:limit]),
        coverage=coverage,
        has_more=len(covered) > limit,
    )


async def _of_pairs(
    messages: MessageRepository, batch: Compaction, after_sequence: int
) -> list[StoredMessage]:
    """The messages that a batch of tool pairs covers, which are not all up to its last one."""
    hidden = [
        sequence
        for pair in (() if batch.view is None else batch.view.pairs)
        if pair.compaction_id == batch.id
        for sequence in pair.sequences
        if sequence > after_sequence
    ]
    ids = await messages.ids_at(set(hidden))
    found = await messages.by_ids(sorted(ids.values()))
    return sorted(found.values(), key=lambda stored: stored.sequence)


async def replay_session(
    resources: Resources, session_id: str, selector: Selector, reader: ReplayReader
) -> Replay:
    """The projection that a selector names, for a reader; nothing is run again.

    Raises:
        SessionNotFound, CompactionNotFound: There is no such session or compaction.
        InvalidBoundary: The session has no such sequence.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        selected = await _selected(connection, session, selector)
        if reader == "agent":
            items = await _agents_items(resources, connection, session, selected)
        else:
            items = await _peoples_items(connection, session, selected)
        messages = MessageRepository(connection, session.incarnation)
        stamps = await messages.stamps(selected.through_sequence)
    return Replay(
        checkpoint_id=selected.view.checkpoint_id,
        through_sequence=selected.through_sequence,
        messages=tuple(_replayed(item, stamps, selected.view) for item in items),
    )


async def _selected(connection: ReadConnection, session: Session, selector: Selector) -> _Selected:
    compactions = CompactionRepository(connection, session.incarnation)
    if selector.compaction_id is not None:
        return _checkpoint(await compactions.get(selector.compaction_id))
    if selector.through_sequence is None:
        view = await compactions.view(session.view_id)
        return _Selected(view=view, through_sequence=session.message_count)
    through = selector.through_sequence
    if through > session.message_count:
        raise InvalidBoundary(
            f"the session holds {session.message_count} messages", through_sequence=through
        )
    installed = await compactions.installed_at(through)
    before = WHOLE if installed is None or installed.view is None else installed.view
    return _Selected(view=before.through(through), through_sequence=through)


def _checkpoint(found: Compaction) -> _Selected:
    """A checkpoint alone: the items that stand for its fold."""
    checkpoint = found.checkpoint
    if checkpoint is None or not checkpoint.items:
        raise NoCompaction(f"compaction {found.id!r} has no checkpoint", compaction_id=found.id)
    through = checkpoint.through_sequence
    view = View(
        checkpoint_id=found.id,
        ranges=(),
        open_after=through,
        again=() if found.view is None else found.view.again,
    )
    return _Selected(view=view, through_sequence=through)


async def _agents_items(
    resources: Resources, connection: ReadConnection, session: Session, selected: _Selected
) -> tuple[Item, ...]:
    return await view_items(
        resources.checkpoints,
        connection,
        session.incarnation,
        selected.view,
        selected.through_sequence,
        counter_of(profile_of(session)),
        session.visibility_ordinal,
    )


async def _peoples_items(
    connection: ReadConnection, session: Session, selected: _Selected
) -> tuple[Item, ...]:
    """What people see: whatever was folded or rewound, and nothing that was made for the model."""
    through = selected.through_sequence
    messages = MessageRepository(connection, session.incarnation)
    wanted = MessageFilter(user_visible=True, through_sequence=through)
    stored = await messages.page(wanted, "asc", None, through)
    shown = [Shown(item=item_of_message(each), visibility=each.visibility) for each in stored]
    return await asyncio.to_thread(users_view, shown, counter_of(profile_of(session)))


def _replayed(item: Item, stamps: Mapping[str, Stamp], view: View) -> ReplayedMessage:
    source = item.source
    if not isinstance(source, Real) or source.id is None:
        return ReplayedMessage(item=item, turn_id=None, created_at=None, visibility=AGENT_ONLY)
    stamp = stamps[source.id]
    is_shown = stamp.visibility.agent and view.shows(source.sequence or 0)
    return ReplayedMessage(
        item=item,
        turn_id=stamp.turn_id,
        created_at=stamp.created_at,
        visibility=replace(stamp.visibility, agent=is_shown),
    )
