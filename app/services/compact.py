"""Compactions: plan and claim one, or find the one that is under way.

Source: docs/semantics/compaction.md#the-protocol.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from app.compaction.protocol import Request as RequestEvent
from app.compaction.protocol import transition
from app.compaction.record import (
    Claim,
    Compaction,
    CompactionKind,
    CompactionPhase,
    Plan,
    Runner,
    SummaryStyle,
    blank_compaction,
)
from app.compaction.refusals import (
    AlreadyCompactedInCall,
    CompactionInProgress,
    TurnNotRunning,
)
from app.compaction.summary_request import SummaryRequest
from app.core.phase import phase_of
from app.core.stored import Session
from app.services.compaction_ids import compaction_id
from app.services.plans import fold_of, plan_of, plans_again, request_of
from app.services.profiles import compact_with, policy_of, style_of
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

OtherPlan: TypeAlias = Literal["refuse", "supersede"]
"""What happens to a compaction with another plan that is under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRequest:
    """What a caller asks for."""

    kind: CompactionKind
    turn_id: str | None
    model_call: int | None
    phase: CompactionPhase | None
    """None: by hand none at all, in a turn what the call's number or the conversation tells."""
    instructions: str | None
    style: SummaryStyle
    other_plan: OtherPlan
    key: str | None
    """The caller's idempotency key: a repeat with it gets the same compaction."""
    runner: Runner = "worker"

    @property
    def claim_key(self) -> str | None:
        """The key whose repeat gets the claim too; a claim of the service is its own."""
        return self.key if self.runner == "worker" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A compaction, and the claim on it if the caller holds it."""

    compaction: Compaction
    outcome: Literal["created", "claimed", "found"]
    """Found: somebody else holds the claim, or it is completed."""
    request: SummaryRequest | None
    """None unless the caller holds the claim."""

    @property
    def is_held_elsewhere(self) -> bool:
        """Whether somebody else is at it."""
        return self.request is None and self.compaction.status == "pending"


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
    phase = _phase(situation, request)
    fold = await fold_of(connection, situation, phase, now)
    plan = await plan_of(connection, situation, fold, request.kind, request.instructions)
    pending = await compactions.pending()
    if pending is not None:
        outcome = transition("pending", event_of(pending, plan, request, now))
        if outcome.action in ("answer", "take_over"):
            return await _joined(resources, connection, situation, pending, request, now)
        if outcome.action == "refuse":
            raise CompactionInProgress(
                f"compaction {pending.id} with another plan is under way",
                compaction_id=pending.id,
            )
        await compactions.save(replace(pending, status=outcome.status, claim=None, updated_at=now))
    await _refuse_unreadable_state(connection, situation.session, request)
    created = await _created(resources, compactions, situation, plan, request, now)
    await compactions.save(created)
    summary_request = await request_of(
        resources, connection, situation.session, created, created.rung
    )
    return Claimed(compaction=created, outcome="created", request=summary_request)


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
    if pending is not None and is_own_claim(pending.claim, request):
        found = pending
    if found is None:
        return None
    if found.status == "pending":
        return await _joined(resources, connection, situation, found, request, now)
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
    state = await runtime_now(connection, session, _turn_of(request))
    if style_of(policy_of(session)).reminds:
        reminder_of(state)


def _phase(situation: Situation, request: CompactionRequest) -> CompactionPhase:
    if request.phase is not None:
        return request.phase
    if request.kind == "manual":
        return "standalone"
    return phase_of(situation.items, request.model_call)


def _turn_of(request: CompactionRequest) -> str | None:
    """The turn that compacts; a manual compaction is in none."""
    return None if request.kind == "manual" else request.turn_id


def _call_of(request: CompactionRequest) -> int | None:
    return None if request.kind == "manual" else request.model_call


async def _check_turn(
    connection: WriteConnection, situation: Situation, request: CompactionRequest, now: datetime
) -> None:
    if request.kind == "manual":
        await refuse_live_turn(connection, situation.session, "compacted", now)
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


async def _joined(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    pending: Compaction,
    request: CompactionRequest,
    now: datetime,
) -> Claimed:
    """The pending compaction of the same plan: its claim again, taken over, or somebody else's."""
    claim = pending.claim
    is_own = is_own_claim(claim, request)
    if claim is not None and claim.expires_at > now and not is_own:
        return Claimed(compaction=pending, outcome="found", request=None)
    joined = pending
    if not is_own or claim is None or claim.expires_at <= now:
        taken = replace(
            pending,
            kind=request.kind,
            turn_id=_turn_of(request),
            model_call=_call_of(request),
            phase=_phase(situation, request),
            runner=request.runner,
        )
        joined = claimed_anew(resources, taken, request.claim_key, now)
        await CompactionWriter(connection, situation.session.incarnation).save(joined)
    summary_request = await request_of(
        resources, connection, situation.session, joined, joined.rung
    )
    return Claimed(compaction=joined, outcome="claimed", request=summary_request)


def is_own_claim(claim: Claim | None, request: CompactionRequest) -> bool:
    """Whether the claim was taken by the same request."""
    return claim is not None and claim.key is not None and claim.key == request.claim_key


def claimed_anew(
    resources: Resources, compaction: Compaction, key: str | None, now: datetime
) -> Compaction:
    """The compaction under a new claim; every earlier one is lost."""
    token = f"claim-{resources.new_id()}"
    return replace(
        compaction,
        claim=Claim(token=token, key=key, expires_at=claim_end(resources, now)),
        issued_tokens=(*compaction.issued_tokens, token),
        updated_at=now,
    )


def claim_end(resources: Resources, now: datetime) -> datetime:
    """When a claim that is taken or renewed now expires."""
    return now + timedelta(seconds=resources.claim_seconds)


async def _created(
    resources: Resources,
    compactions: CompactionWriter,
    situation: Situation,
    plan: Plan,
    request: CompactionRequest,
    now: datetime,
) -> Compaction:
    session = situation.session
    new_id = compaction_id(resources, session.incarnation, "compact", request.key)
    blank = blank_compaction(new_id, await compactions.next_ordinal(), request.kind, now)
    unclaimed = replace(
        blank,
        style=request.style,
        turn_id=_turn_of(request),
        model_call=_call_of(request),
        phase=_phase(situation, request),
        instructions=request.instructions,
        previous_view_id=plan.view_id,
        attempt=1,
        max_attempts=style_of(policy_of(session)).max_attempts,
        plan=plan,
        runner=request.runner,
        compact_with=compact_with(session, request.kind),
    )
    return claimed_anew(resources, unclaimed, request.claim_key, now)
