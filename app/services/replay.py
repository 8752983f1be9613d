"""Read back what compactions cover, and what a session shows or showed.

Source: docs/semantics/compaction.md#reading-back.
"""

from dataclasses import dataclass

from app.compaction.record import Compaction
from app.compaction.refusals import InvalidBoundary, NoCompaction
from app.compaction.view import WHOLE, Coverage
from app.core.items import Item
from app.core.stored import Session, StoredMessage
from app.services.messages import coverage_of
from app.services.profiles import profile_of
from app.services.resources import Resources, counter_of
from app.services.views import view_items
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageFilter, MessageRepository
from app.store.sessions import SessionRepository


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
class Replay:
    """What a model saw, or would see."""

    session: Session
    checkpoint_id: str | None
    through_sequence: int
    items: tuple[Item, ...]
    turn_ids: dict[str, str | None]
    created_at: dict[str, str]


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


async def replay_session(resources: Resources, session_id: str, selector: Selector) -> Replay:
    """The projection that a selector names; nothing is run again.

    Raises:
        SessionNotFound, CompactionNotFound: There is no such session or compaction.
        InvalidBoundary: The session has no such sequence.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        checkpoint_id, through, items = await _selected(resources, connection, session, selector)
        messages = MessageRepository(connection, session.incarnation)
        stored = await messages.stamps(through)
    return Replay(
        session=session,
        checkpoint_id=checkpoint_id,
        through_sequence=through,
        items=items,
        turn_ids={name: turn_id for name, (turn_id, _) in stored.items()},
        created_at={name: at.isoformat() for name, (_, at) in stored.items()},
    )


async def _selected(
    resources: Resources, connection: ReadConnection, session: Session, selector: Selector
) -> tuple[str | None, int, tuple[Item, ...]]:
    compactions = CompactionRepository(connection, session.incarnation)
    if selector.compaction_id is not None:
        return await _checkpoint(
            resources, connection, session, await compactions.get(selector.compaction_id)
        )
    if selector.through_sequence is None:
        view, through = await compactions.view(session.view_id), session.message_count
    else:
        through = selector.through_sequence
        if through > session.message_count:
            raise InvalidBoundary(
                f"the session holds {session.message_count} messages", through_sequence=through
            )
        installed = await compactions.installed_at(through)
        before = WHOLE if installed is None or installed.view is None else installed.view
        view = before.through(through)
    items = await view_items(
        resources.checkpoints,
        connection,
        session.incarnation,
        view,
        through,
        counter_of(profile_of(session)),
    )
    return view.checkpoint_id, through, items


async def _checkpoint(
    resources: Resources, connection: ReadConnection, session: Session, found: Compaction
) -> tuple[str | None, int, tuple[Item, ...]]:
    checkpoint = found.checkpoint
    if checkpoint is None or not checkpoint.items:
        raise NoCompaction(f"compaction {found.id!r} has no checkpoint", compaction_id=found.id)
    items = await resources.checkpoints.items(
        connection, session.incarnation, found.id, counter_of(profile_of(session))
    )
    return found.id, checkpoint.through_sequence, items
