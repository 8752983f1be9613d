"""Prepare the next model call: append, sample, assemble, decide, record. One transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.core.append import Draft
from app.core.stored import LearnedLimit, Session
from app.services.append import Appended, Expected, append_drafts
from app.services.artifacts import prefetch_offer
from app.services.caching import prunes_now
from app.services.calls import MadeCall, Standing, make_call
from app.services.claims import Claimed, CompactionRequest
from app.services.compact import start_locked
from app.services.decisions import Decided, OverflowReport, decide_call, pruned
from app.services.events import tell_of_break, tell_of_need
from app.services.history import COMPARED_CALLS, NamedCall, name_call
from app.services.incoming import IncomingMessage, draft_messages
from app.services.models import learned_limit, record_limit
from app.services.pair_batches import pairs_offer
from app.services.profiles import profile_of
from app.services.resources import Resources, counter_of
from app.services.situations import Situation, caught_up, read_situation
from app.services.turn_decisions import (
    decided_before,
    is_noted,
    note_decision,
    without_second_decision,
)
from app.services.turns import TurnPoint, is_settled, touch_turn
from app.services.world_state import Sampled, SampleRequest, sample_in_transaction
from app.store.connections import ReadConnection, WriteConnection
from app.store.prepared import PreparedRepository, PreparedWriter, RecordedCall
from app.store.sessions import SessionWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareRequest:
    """What a caller asks of one prepare."""

    append: Sequence[IncomingMessage]
    expected: Expected
    world_state: SampleRequest | None
    format: str
    """Of the request: `neutral`, or one that has an encoder."""
    generation: Mapping[str, object]
    point: TurnPoint | None
    report: OverflowReport | None
    starts_compaction: bool
    key: str | None
    """The caller's idempotency key: a repeat with it gets its claim again."""

    @property
    def may_change(self) -> bool:
        """Whether the session has to be locked for it in any case."""
        return bool(
            self.append
            or self.world_state is not None
            or self.expected.message_count is not None
            or self.report is not None
        )

    def standing(self, session: Session) -> Standing:
        """What the decision depends on beside the request."""
        model_call = None if self.point is None else self.point.model_call
        return Standing(usage=session.usage, model_call=model_call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A prepared call and the session as the prepare left it."""

    session: Session
    named: NamedCall
    appended: Appended
    sampled: Sampled | None
    claimed: Claimed | None = None
    """The compaction that was started with it."""
    learned: LearnedLimit | None = None
    """The smallest limit that was reported of the model, where this prepare came with a report."""


async def prepare_call(resources: Resources, session_id: str, request: PrepareRequest) -> Prepared:
    """Prepare the next call of a session. Any refusal leaves it as it was.

    The history is read before the session is locked, so that other writers
    wait only for what is new. A prepare that changes nothing takes no lock.

    Raises:
        SessionNotFound: There is no such session.
        ContextError: The batch, the capture or the request is refused.
    """
    async with resources.database.reading() as reader:
        seen = await read_situation(resources, reader, session_id)
        counter = counter_of(profile_of(seen.session))
        drafts = await draft_messages(resources, request.append, counter)
        if not request.may_change:
            named = await _unchanged(resources, reader, seen, request)
            if named is not None:
                nothing = Appended(session=seen.session, placed=(), arrived=())
                return Prepared(session=seen.session, named=named, appended=nothing, sampled=None)
    async with resources.database.writing() as connection:
        return await _prepare_locked(resources, connection, seen, drafts, request)


async def _unchanged(
    resources: Resources, connection: ReadConnection, seen: Situation, request: PrepareRequest
) -> NamedCall | None:
    """The call, where preparing it would store nothing."""
    session = seen.session
    made = await make_call(
        resources,
        connection,
        seen.recipe(request.generation, request.format),
        seen.items,
        session.incarnation,
        request.standing(session),
    )
    made = await settled_in_turn(connection, session, made, request.point)
    if made.call.decision.action != "submit":
        return None
    if not await is_noted(connection, session, made.call.policy, request.point):
        return None
    if await prunes_now(connection, session, made.call.policy, resources.now()):
        return None
    point = request.point
    if point is not None and not await is_settled(connection, session, point, resources.now()):
        return None
    made = await with_background(connection, seen, made, request.point, resources.now())
    named, recorded = await _name(resources, connection, session, made)
    same = _is_recorded(named, recorded) and _settled(session, session, named) == session
    return named if same else None


async def _prepare_locked(
    resources: Resources,
    connection: WriteConnection,
    seen: Situation,
    drafts: Sequence[Draft],
    request: PrepareRequest,
) -> Prepared:
    writer = SessionWriter(connection)
    locked = await writer.lock(seen.session.id)
    now = resources.now()
    if request.point is not None:
        await touch_turn(connection, locked, request.point, now)
    situation = await caught_up(resources, connection, seen, locked)
    appended = await append_drafts(connection, locked, drafts, request.expected, now)
    situation = situation.with_items(appended.session, appended.items)
    sampled = await _sampled(connection, situation, request, now)
    if sampled is not None:
        situation = situation.with_items(sampled.session, sampled.items)
    decided = await _decided(resources, connection, situation, request, now)
    await note_decision(connection, locked, decided.made.call.policy, request.point)
    claimed = await _start(resources, connection, decided, request, now)
    named, recorded = await _name(resources, connection, decided.situation.session, decided.made)
    if not _is_recorded(named, recorded):
        await PreparedWriter(connection, locked.incarnation).record(named.record(), now)
    session = _settled(locked, decided.situation.session, named)
    if session != locked:
        await writer.save(session)
    learned = await _learned(connection, session, request.report, now)
    await _tell(resources, connection, session, named, recorded, now)
    return Prepared(
        session=session,
        named=named,
        appended=appended,
        sampled=sampled,
        claimed=claimed,
        learned=learned,
    )


async def _sampled(
    connection: WriteConnection, situation: Situation, request: PrepareRequest, now: datetime
) -> Sampled | None:
    if request.world_state is None:
        return None
    session = situation.session
    counter = counter_of(profile_of(session))
    return await sample_in_transaction(connection, session, request.world_state, counter, now)


async def _decided(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    request: PrepareRequest,
    now: datetime,
) -> Decided:
    made = await make_call(
        resources,
        connection,
        situation.recipe(request.generation, request.format),
        situation.items,
        situation.session.incarnation,
        request.standing(situation.session),
    )
    made = await settled_in_turn(connection, situation.session, made, request.point)
    if request.report is None and await prunes_now(
        connection, situation.session, made.call.policy, now
    ):
        moved = await pruned(resources, connection, situation, made)
        if moved is not None:
            situation = moved.situation
            made = await settled_in_turn(connection, situation.session, moved.made, request.point)
    decided = await decide_call(
        resources, connection, situation, made, request.point, request.report, request.key, now
    )
    point = request.point
    made = await with_background(connection, decided.situation, decided.made, point, now)
    return replace(decided, made=made)


async def settled_in_turn(
    connection: ReadConnection, session: Session, made: MadeCall, point: TurnPoint | None
) -> MadeCall:
    """The call as its turn lets it be decided."""
    has_decided = await decided_before(connection, session, made.call.policy, point)
    return without_second_decision(made) if has_decided else made


async def with_background(
    connection: ReadConnection,
    situation: Situation,
    made: MadeCall,
    point: TurnPoint | None,
    now: datetime,
) -> MadeCall:
    """The call with what may be begun while it is sent."""
    offers = (
        await prefetch_offer(connection, situation, made, now),
        await pairs_offer(connection, situation, None if point is None else point.turn_id, now),
    )
    background = tuple(offer for offer in offers if offer is not None)
    return made.with_decision(replace(made.call.decision, background=background))


async def _learned(
    connection: WriteConnection, session: Session, report: OverflowReport | None, now: datetime
) -> LearnedLimit | None:
    """What is learned of the model's limit, this report included."""
    if report is None:
        return None
    if report.observed_limit_tokens is not None:
        await record_limit(
            connection, session.incarnation, report.prepared_id, report.observed_limit_tokens, now
        )
    return await learned_limit(connection, session.model)


async def _start(
    resources: Resources,
    connection: WriteConnection,
    decided: Decided,
    request: PrepareRequest,
    now: datetime,
) -> Claimed | None:
    """Claim the compaction that the decision asks for, where the caller wants to run it."""
    wanted = decided.made.call.decision.compaction
    if wanted is None or not request.starts_compaction:
        return None
    point = request.point
    return await start_locked(
        resources,
        connection,
        decided.situation,
        CompactionRequest(
            kind=wanted.kind,
            turn_id=None if point is None else point.turn_id,
            model_call=None if point is None else point.model_call,
            phase=decided.made.call.decision.phase,
            instructions=None,
            style="conversation",
            other_plan="refuse",
            key=request.key,
        ),
        now,
    )


async def _tell(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    named: NamedCall,
    recorded: Sequence[RecordedCall],
    now: datetime,
) -> None:
    """Tell those who listen what a call means; one that was recorded before is told of already."""
    await tell_of_need(resources, connection, session, named, now)
    if not _is_recorded(named, recorded):
        await tell_of_break(resources, connection, session, named, now)


async def _name(
    resources: Resources, connection: ReadConnection, session: Session, made: MadeCall
) -> tuple[NamedCall, Sequence[RecordedCall]]:
    calls = PreparedRepository(connection, session.incarnation)
    recorded = await calls.latest(made.recipe.format, session.model, COMPARED_CALLS)
    named = await name_call(resources, connection, made, session.incarnation, recorded)
    return named, recorded


def _is_recorded(named: NamedCall, recorded: Sequence[RecordedCall]) -> bool:
    return bool(recorded) and recorded[0].id == named.id


def _settled(before: Session, after: Session, named: NamedCall) -> Session:
    """The session to store: how full it is, who answers, and a version if more changed."""
    budget = named.made.call.budget
    version = before.version + 1 if after != before else before.version
    settled = replace(
        after, version=version, state=budget.state, used_percent=budget.used_percent_raw
    )
    if named.made.call.decision.action != "submit":
        return settled
    return replace(settled, usage=replace(after.usage, answered_by=named.made.call.profile))
