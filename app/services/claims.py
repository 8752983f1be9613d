"""Claims: who runs a compaction, and until when nobody else may.

Source: docs/semantics/compaction.md#the-protocol.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

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
from app.compaction.summary_request import SummaryRequest
from app.core.phase import phase_of
from app.services.compaction_ids import compaction_id
from app.services.plans import request_of
from app.services.profiles import compact_with, policy_of, style_of
from app.services.resources import Resources
from app.services.situations import Situation
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection

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


def holds_claim(claim: Claim | None, request: CompactionRequest) -> bool:
    """Whether the claim was taken by the same request."""
    return claim is not None and claim.key is not None and claim.key == request.claim_key


async def joined(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    pending: Compaction,
    request: CompactionRequest,
    now: datetime,
) -> Claimed:
    """The pending compaction of the same plan: its claim again, taken over, or somebody else's."""
    claim = pending.claim
    is_own = holds_claim(claim, request)
    if claim is not None and claim.expires_at > now and not is_own:
        return Claimed(compaction=pending, outcome="found", request=None)
    joined = pending
    if not is_own or claim is None or claim.expires_at <= now:
        taken = replace(
            pending,
            kind=request.kind,
            turn_id=turn_for(request),
            model_call=call_for(request),
            phase=phase_for(situation, request),
            runner=request.runner,
        )
        joined = claimed_anew(resources, taken, request.claim_key, now)
        await CompactionWriter(connection, situation.session.incarnation).save(joined)
    summary_request = await request_of(
        resources, connection, situation.session, joined, joined.rung
    )
    return Claimed(compaction=joined, outcome="claimed", request=summary_request)


async def created(
    resources: Resources,
    compactions: CompactionWriter,
    situation: Situation,
    plan: Plan,
    request: CompactionRequest,
    now: datetime,
) -> Compaction:
    """A new compaction of a plan under its first claim, not saved."""
    unclaimed = await unclaimed_compaction(resources, compactions, situation, plan, request, now)
    return claimed_anew(resources, unclaimed, request.claim_key, now)


async def unclaimed_compaction(
    resources: Resources,
    compactions: CompactionWriter,
    situation: Situation,
    plan: Plan,
    request: CompactionRequest,
    now: datetime,
) -> Compaction:
    """A new compaction of a plan that nobody runs, not saved."""
    session = situation.session
    new_id = compaction_id(resources, session.incarnation, "compact", request.key)
    blank = blank_compaction(new_id, await compactions.next_ordinal(), request.kind, now)
    return replace(
        blank,
        style=request.style,
        turn_id=turn_for(request),
        model_call=call_for(request),
        phase=phase_for(situation, request),
        instructions=request.instructions,
        previous_view_id=plan.view_id,
        attempt=1,
        max_attempts=style_of(policy_of(session)).max_attempts,
        plan=plan,
        runner=request.runner,
        compact_with=compact_with(session, request.kind),
    )


def phase_for(situation: Situation, request: CompactionRequest) -> CompactionPhase:
    """The phase that a request says, or that its kind or the conversation tells."""
    if request.phase is not None:
        return request.phase
    if request.kind == "manual":
        return "standalone"
    return phase_of(situation.items, request.model_call)


def turn_for(request: CompactionRequest) -> str | None:
    """The turn that compacts; a manual compaction is in none."""
    return None if request.kind == "manual" else request.turn_id


def call_for(request: CompactionRequest) -> int | None:
    """The model call that compacts; a manual compaction is of none."""
    return None if request.kind == "manual" else request.model_call
