"""Prepare the next model call: append, sample, assemble, record. One transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.append import Draft
from app.core.items import Item
from app.core.stored import Session
from app.services.append import Appended, append_drafts
from app.services.calls import NEUTRAL, make_call, recipe_of
from app.services.history import COMPARED_CALLS, NamedCall, name_call
from app.services.incoming import IncomingMessage, draft_messages
from app.services.profiles import profile_of
from app.services.resources import Resources, counter_of
from app.services.world_state import Sampled, SampleRequest, sample_in_transaction
from app.store.connections import ReadConnection, WriteConnection
from app.store.messages import MessageRepository
from app.store.prepared import PreparedRepository, PreparedWriter, RecordedCall
from app.store.sessions import SessionRepository, SessionWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareRequest:
    """What a caller asks of one prepare."""

    append: Sequence[IncomingMessage]
    expected_message_count: int | None
    world_state: SampleRequest | None
    generation: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A prepared call and the session as the prepare left it."""

    session: Session
    named: NamedCall
    appended: Appended
    sampled: Sampled | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """A session and the items that a model may see of it."""

    session: Session
    items: tuple[Item, ...]


async def prepare_call(resources: Resources, session_id: str, request: PrepareRequest) -> Prepared:
    """Prepare the next call of a session. Any refusal leaves it as it was.

    The history is read before the session is locked, so that other writers
    wait only for what is new. A prepare that changes nothing takes no lock.

    Raises:
        SessionNotFound: There is no such session.
        ContextError: The batch, the capture or the request is refused.
    """
    async with resources.database.reading() as reader:
        view = await _read(reader, session_id)
        counter = counter_of(profile_of(view.session))
        drafts = await draft_messages(resources, request.append, counter)
        if not drafts and request.world_state is None and request.expected_message_count is None:
            named, recorded = await _name(resources, reader, view, request)
            settled = _settled(view.session, view.session, named)
            if _is_recorded(named, recorded) and settled == view.session:
                return _unchanged(view.session, named)
    async with resources.database.writing() as connection:
        return await _prepare_locked(resources, connection, view, drafts, request)


async def _prepare_locked(
    resources: Resources,
    connection: WriteConnection,
    seen: _View,
    drafts: Sequence[Draft],
    request: PrepareRequest,
) -> Prepared:
    writer = SessionWriter(connection)
    locked = await writer.lock(seen.session.id)
    now = resources.now()
    view = await _caught_up(connection, seen, locked)
    appended = await append_drafts(connection, locked, drafts, request.expected_message_count, now)
    view = _View(session=appended.session, items=(*view.items, *appended.items))
    sampled = None
    if request.world_state is not None:
        counter = counter_of(profile_of(locked))
        sampled = await sample_in_transaction(
            connection, view.session, request.world_state, counter, now
        )
        view = _View(session=sampled.session, items=(*view.items, *sampled.items))
    named, recorded = await _name(resources, connection, view, request)
    if not _is_recorded(named, recorded):
        await PreparedWriter(connection, locked.incarnation).record(named.record(), now)
    session = _settled(locked, view.session, named)
    if session != locked:
        await writer.save(session)
    return Prepared(session=session, named=named, appended=appended, sampled=sampled)


async def _read(connection: ReadConnection, session_id: str) -> _View:
    session = await SessionRepository(connection).get(session_id)
    messages = MessageRepository(connection, session.incarnation)
    return _View(session=session, items=await messages.items(0, session.message_count))


async def _caught_up(connection: ReadConnection, seen: _View, locked: Session) -> _View:
    """The view with what was stored since it was read."""
    messages = MessageRepository(connection, locked.incarnation)
    if seen.session.incarnation != locked.incarnation:
        return _View(session=locked, items=await messages.items(0, locked.message_count))
    if seen.session.message_count == locked.message_count:
        return replace(seen, session=locked)
    newer = await messages.items(seen.session.message_count, locked.message_count)
    return _View(session=locked, items=(*seen.items, *newer))


async def _name(
    resources: Resources, connection: ReadConnection, view: _View, request: PrepareRequest
) -> tuple[NamedCall, Sequence[RecordedCall]]:
    session = view.session
    recipe = recipe_of(session, request.generation)
    made = await make_call(resources, connection, recipe, view.items, session.incarnation)
    calls = PreparedRepository(connection, session.incarnation)
    recorded = await calls.latest(NEUTRAL, session.model, COMPARED_CALLS)
    named = await name_call(resources, connection, made, view.items, session.incarnation, recorded)
    return named, recorded


def _is_recorded(named: NamedCall, recorded: Sequence[RecordedCall]) -> bool:
    return bool(recorded) and recorded[0].id == named.id


def _settled(before: Session, after: Session, named: NamedCall) -> Session:
    """The session to store: its fill level, and a version if anything else changed."""
    budget = named.made.call.budget
    changed = after != before
    return replace(
        after,
        version=before.version + 1 if changed else before.version,
        state=budget.state,
        used_percent=budget.used_percent_raw,
    )


def _unchanged(session: Session, named: NamedCall) -> Prepared:
    nothing = Appended(session=session, placed=(), arrived=())
    return Prepared(session=session, named=named, appended=nothing, sampled=None)
