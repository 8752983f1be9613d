"""Compactions: plan and claim one, or find the one that is under way.

Source: docs/semantics/compaction.md#the-protocol.
"""

from dataclasses import replace
from datetime import datetime

from app.compaction.protocol import Request as RequestEvent
from app.compaction.protocol import transition
from app.compaction.record import BACKGROUND_KINDS, Compaction, Plan
from app.compaction.refusals import (
    AlreadyCompactedInCall,
    CompactionInProgress,
    TurnNotRunning,
)
from app.core.stored import Session
from app.services.artifacts import installed_artifact
from app.services.claims import (
    Claimed,
    CompactionRequest,
    created,
    holds_claim,
    joined,
    phase_for,
    turn_for,
)
from app.services.compaction_ids import compaction_id
from app.services.plans import fold_of, plan_of, plans_again, request_of
from app.services.profiles import policy_of, style_of
from app.services.resources import Resources
from app.services.runtime import reminder_of, runtime_now
from app.services.same_window import window_view_of
from app.services.situations import Situation, caught_up, read_situation
from app.services.supersede import refuse_live_turn
from app.services.turns import TurnPoint, touch_turn
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection
from app.store.sessions import SessionWriter
from app.store.turns import TurnRepository


async def start_compaction(
    resources: Resources, session_id: str, request: CompactionRequest
) -> Claimed:
    """Plan a compaction and claim it, or find the one with the same plan.

    Raises:
        SessionNotFound: There is no such session.
        SessionActive, TurnNotRunning, AlreadyCompactedInCall,
        CompactionInProgress: The session's state does not allow it.
        EmptyConversation, MissingLastUser, NothingToCompact: It would fold nothing.
    """
    async with resources.database.reading() as reader:
        seen = await read_situation(resources, reader, session_id)
    async with resources.database.writing() as connection:
        locked = await SessionWriter(connection).lock(session_id)
        situation = await caught_up(resources, connection, seen, locked)
        return await start_locked(resources, connection, situation, request, resources.now())


async def start_locked(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    request: CompactionRequest,
    now: datetime,
) -> Claimed:
    """Start inside a transaction that has locked the session."""
    repeated = await _repeated(resources, connection, situation, request, now)
    if repeated is not None:
        return repeated
    await _check_turn(connection, situation, request, now)
    compactions = CompactionWriter(connection, situation.session.incarnation)
    done = await _done_already(resources, compactions, connection, situation.session, request)
    if done is not None:
        return Claimed(compaction=done, outcome="found", request=None)
    fold = await fold_of(connection, situation, phase_for(situation, request), now)
    plan = await plan_of(connection, situation, fold, request.kind, request.instructions)
    begun = await _begun(resources, connection, situation, plan, request, now)
    if begun is not None:
        return begun
    pending = None if request.kind == "prefetch" else await compactions.pending()
    if pending is not None:
        outcome = transition("pending", event_of(pending, plan, request, now))
        if outcome.action in ("answer", "take_over"):
            return await joined(resources, connection, situation, pending, request, now)
        if outcome.action == "refuse":
            raise CompactionInProgress(
                f"compaction {pending.id} with another plan is under way",
                compaction_id=pending.id,
            )
        await compactions.save(replace(pending, status=outcome.status, claim=None, updated_at=now))
    await _refuse_unreadable_state(connection, situation.session, request)
    ready = await installed_artifact(resources, connection, situation, fold, request, now)
    if ready is not None:
        return Claimed(compaction=ready.compaction, outcome="created", request=None)
    new = await created(resources, compactions, situation, plan, request, now)
    await compactions.save(new)
    summary_request = await request_of(resources, connection, situation.session, new, new.rung)
    return Claimed(compaction=new, outcome="created", request=summary_request)


async def _begun(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    plan: Plan,
    request: CompactionRequest,
    now: datetime,
) -> Claimed | None:
    """The prefetch of the same plan: under way for whoever asks, or done for who asks for one."""
    if request.kind not in ("prefetch", "threshold"):
        return None
    compactions = CompactionWriter(connection, situation.session.incarnation)
    found = await compactions.of_plan("prefetch", plan.key)
    if found is None:
        return None
    if found.status == "pending":
        return await joined(resources, connection, situation, found, request, now)
    if found.status == "completed" and request.kind == "prefetch":
        return Claimed(compaction=found, outcome="found", request=None)
    return None


async def _repeated(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    request: CompactionRequest,
    now: datetime,
) -> Claimed | None:
    """The compaction that an earlier request with the same key started or took over."""
    if request.key is None:
        return None
    incarnation = situation.session.incarnation
    compactions = CompactionWriter(connection, incarnation)
    found = await compactions.find(compaction_id(resources, incarnation, "compact", request.key))
    pending = await compactions.pending()
    if pending is not None and holds_claim(pending.claim, request):
        found = pending
    if found is None:
        return None
    if found.status == "pending":
        return await joined(resources, connection, situation, found, request, now)
    return Claimed(compaction=found, outcome="found", request=None)


async def _done_already(
    resources: Resources,
    compactions: CompactionWriter,
    connection: WriteConnection,
    session: Session,
    request: CompactionRequest,
) -> Compaction | None:
    """The compaction that is shown, where the request asks for the very same plan again."""
    view_id = await window_view_of(compactions, session.view_id)
    if view_id is None:
        return None
    shown = await compactions.get(view_id)
    is_same = await plans_again(resources, connection, session, shown, request.instructions)
    return shown if is_same else None


def event_of(
    pending: Compaction, plan: Plan, request: CompactionRequest, now: datetime
) -> RequestEvent:
    """What the request is to the compaction that is under way."""
    has_expired = pending.claim is None or pending.claim.expires_at <= now
    if pending.plan is not None and pending.plan.key == plan.key:
        return "request_same_plan_claim_expired" if has_expired else "request_same_plan"
    if request.other_plan == "supersede":
        return "request_superseding"
    return "request_other_plan_claim_expired" if has_expired else "request_other_plan"


async def _refuse_unreadable_state(
    connection: WriteConnection, session: Session, request: CompactionRequest
) -> None:
    state = await runtime_now(connection, session, turn_for(request))
    if style_of(policy_of(session)).reminds:
        reminder_of(state)


async def _check_turn(
    connection: WriteConnection, situation: Situation, request: CompactionRequest, now: datetime
) -> None:
    if request.kind == "manual":
        await refuse_live_turn(connection, situation.session, "compacted", now)
        return
    if request.kind in BACKGROUND_KINDS:
        return
    point = TurnPoint(turn_id=request.turn_id or "", model_call=request.model_call, sample=None)
    incarnation = situation.session.incarnation
    turn = await TurnRepository(connection, incarnation).find(point.turn_id)
    if turn is None or point.model_call is None or not turn.is_live(now):
        raise TurnNotRunning(
            f"a compaction of kind {request.kind} needs turn_id and model_call of a running turn",
            turn_id=request.turn_id,
        )
    compactions = CompactionWriter(connection, incarnation)
    for earlier in await compactions.of_call(point.turn_id, point.model_call):
        if earlier.status in ("completed", "failed"):
            raise AlreadyCompactedInCall(
                f"model call {point.model_call} of turn {point.turn_id} was compacted already",
                compaction_id=earlier.id,
                compaction_status=earlier.status,
            )
    await touch_turn(connection, situation.session, point, now)
