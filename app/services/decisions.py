"""What a prepare decides beyond the line: prune first, compact, wait, or stop.

Source: docs/semantics/compaction.md#decisions.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from app.compaction.errors import EmptyConversation, MissingLastUser, NothingToCompact
from app.compaction.fold import FoldPlan
from app.compaction.gain import refuse_small_gain
from app.compaction.record import Claim, Compaction
from app.compaction.watermark import plan_prune
from app.core.engine import PreparedCall
from app.core.errors import PreparedNotFound
from app.core.ids import is_prepared_id
from app.core.limits import Action, CompactionCall, CompactionTrigger, Reason
from app.services.artifacts import installed_artifact, pending_twin
from app.services.calls import MadeCall, make_call, step_context
from app.services.claims import CompactionRequest
from app.services.overflows import with_overflow
from app.services.plans import fold_of, key_of
from app.services.resources import Resources
from app.services.situations import Situation, situation_of
from app.services.turns import TurnPoint
from app.store.compactions import CompactionRepository
from app.store.connections import WriteConnection
from app.store.prepared import PreparedWriter, Recovery

Delivery: TypeAlias = Literal[
    "not_sent", "possibly_sent", "accepted_no_semantic_output", "semantic_output_emitted"
]

LONGEST_RETRY_MS = 5_000
"""A compaction may end long before its claim does."""

_TRIGGERS: Mapping[Reason, CompactionTrigger] = {
    "model_downshift": "model_downshift",
    "comp_hash_changed": "comp_hash_changed",
}
"""What a compaction is for, where it is not for the line."""

_NOTHING_TO_FOLD = (EmptyConversation, MissingLastUser, NothingToCompact)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverflowReport:
    """A provider refused a prepared call because it was too long."""

    prepared_id: str
    delivery: Delivery
    observed_limit_tokens: int | None
    """What the provider said its limit is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A prepared call with the decision over it, and the situation it leaves."""

    situation: Situation
    made: MadeCall

    def with_compaction(self, wanted: CompactionCall) -> "Decided":
        """The same, asking for a compaction."""
        decision = replace(self.made.call.decision, compaction=wanted)
        return replace(self, made=self.made.with_decision(decision))

    def with_retry(self, milliseconds: int) -> "Decided":
        """The same, to be asked again later."""
        decision = replace(self.made.call.decision, retry_after_ms=milliseconds)
        return replace(self, made=self.made.with_decision(decision))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """All that a decision depends on."""

    situation: Situation
    made: MadeCall
    point: TurnPoint | None
    earlier: Sequence[Compaction]
    """The compactions of the same model call."""
    trigger: CompactionTrigger
    known: Recovery | None
    """How the same report was answered before."""
    key: str | None
    """The caller's idempotency key: a claim that was taken with it is the caller's own."""
    now: datetime


async def decide_call(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    made: MadeCall,
    point: TurnPoint | None,
    report: OverflowReport | None,
    key: str | None,
    now: datetime,
) -> Decided:
    """Decide over a prepared call; pruning at the line may move the watermark and make it anew.

    Raises:
        PreparedNotFound: The report names a call that was never prepared.
    """
    prepared = PreparedWriter(connection, situation.session.incarnation)
    known = None if report is None else await _known(prepared, report)
    over_line = made.call.decision.action == "compact"
    if not over_line and (report is None or known == "pruned"):
        return Decided(situation=situation, made=made)
    question = _Question(
        situation=situation,
        made=made,
        point=point,
        earlier=await _earlier(connection, situation, point),
        trigger=_TRIGGERS.get(made.call.decision.reason, "threshold")
        if report is None or known == "pruned"
        else "overflow",
        known=known,
        key=key,
        now=now,
    )
    if report is None or known is not None:
        return await _decide(resources, connection, question)
    return await _overflowed(resources, connection, question, report, point)


async def _overflowed(
    resources: Resources,
    connection: WriteConnection,
    question: _Question,
    report: OverflowReport,
    point: TurnPoint | None,
) -> Decided:
    """The decision over the first report of an overflow, which is remembered."""
    decided = await _reported(resources, connection, question, report)
    prepared = PreparedWriter(connection, question.situation.session.incarnation)
    recovery = _recovery(decided)
    if recovery is not None:
        await prepared.record_recovery(report.prepared_id, recovery)
    before = decided.situation.session
    call = await prepared.get(report.prepared_id)
    limits = None if recovery == "pruned" else decided.made.call.limits
    session = await with_overflow(connection, before, call, point, limits, question.now)
    situation = replace(decided.situation, session=session)
    if session.usage == before.usage:
        return replace(decided, situation=situation)
    # The window is full now, and a repeat of the report will be told so: so is this answer.
    standing = replace(decided.made.standing, usage=session.usage)
    recipe, items = decided.made.recipe, situation.items
    made = await make_call(resources, connection, recipe, items, session.incarnation, standing)
    full = replace(question, situation=situation, made=made, known=recovery)
    return await _reported(resources, connection, full, report)


async def _reported(
    resources: Resources,
    connection: WriteConnection,
    question: _Question,
    report: OverflowReport,
) -> Decided:
    if report.delivery == "semantic_output_emitted":
        detail = "output was emitted already"
        return _settled(question, "blocked", "context_overflow", detail)
    return await _decide(resources, connection, question)


async def pruned(
    resources: Resources, connection: WriteConnection, situation: Situation, made: MadeCall
) -> Decided | None:
    """The call after the watermark moved; None where that shortens nothing."""
    recipe, session = made.recipe, situation.session
    # What a provider holds itself gets no shorter by it.
    is_left_to_it = recipe.profile.manages_own_context or recipe.held_through is not None
    if not made.call.policy.auto_prune or is_left_to_it:
        return None
    context = step_context(resources, recipe, session.incarnation)
    plan = await asyncio.to_thread(plan_prune, situation.items, context)
    if plan is None:
        return None
    session = replace(session, pruned_through_sequence=plan.through_sequence)
    boundary = replace(recipe.boundary, through_sequence=plan.through_sequence)
    made = await make_call(
        resources,
        connection,
        replace(recipe, boundary=boundary),
        situation.items,
        session.incarnation,
        made.standing,
    )
    return Decided(situation=replace(situation, session=session), made=made)


async def _known(prepared: PreparedWriter, report: OverflowReport) -> Recovery | None:
    if not is_prepared_id(report.prepared_id):
        raise PreparedNotFound(f"there is no prepared call {report.prepared_id[:100]!r}")
    return await prepared.recovery(report.prepared_id)


async def _decide(
    resources: Resources, connection: WriteConnection, question: _Question
) -> Decided:
    if any(compaction.status == "completed" for compaction in question.earlier):
        return _after_compaction(question)
    if any(compaction.status == "failed" for compaction in question.earlier):
        return _after_failure(question)
    if question.known is None:
        moved = await pruned(resources, connection, question.situation, question.made)
        if moved is not None and _is_relief(question.made.call, moved.made.call):
            if moved.made.call.decision.action == "submit":
                return moved
            question = replace(question, situation=moved.situation, made=moved.made)
    return await _compact(resources, connection, question)


def _after_compaction(question: _Question) -> Decided:
    """At most one compaction per model call: send what fits, or stop."""
    decision = question.made.call.decision
    if question.trigger == "overflow" and question.known is None:
        detail = "the request overflowed after the compaction of this model call"
        return _settled(question, "blocked", "context_overflow", detail)
    if decision.action == "submit":
        return Decided(situation=question.situation, made=question.made)
    action: Action = "submit" if question.made.call.budget.fits else "blocked"
    detail = f"this model call was compacted already; {decision.detail}"
    return _settled(question, action, "over_line_after_compaction", detail)


def _after_failure(question: _Question) -> Decided:
    """A failed compaction is the model call's only one."""
    detail = "the compaction of this model call failed"
    if question.trigger == "overflow":
        # The provider has refused this very request, so nothing would come of sending it again.
        return _settled(question, "blocked", "compaction_failed", detail)
    call = question.made.call
    after = call.policy.after_failed_compaction
    may_go_on = after == "submit" or (after == "submit_what_fits" and call.budget.fits)
    action: Action = "submit" if may_go_on else "blocked"
    return _settled(question, action, "compaction_failed", detail)


def _is_relief(before: PreparedCall, after: PreparedCall) -> bool:
    """Whether pruning is worth the prompt cache that it breaks."""
    relief = after.policy.relief(after.limits)
    left = after.decision.input_tokens
    is_enough = relief.target_tokens is None or left <= relief.target_tokens
    return is_enough and before.decision.input_tokens - left >= relief.min_gain_tokens


async def _compact(
    resources: Resources, connection: WriteConnection, question: _Question
) -> Decided:
    call = question.made.call
    reason = "context_overflow" if question.trigger == "overflow" else call.decision.reason
    try:
        phase = call.decision.phase
        planned = await fold_of(connection, question.situation, phase, question.now)
        refuse_small_gain(question.situation.items, planned, call.policy.relief(call.limits))
    except _NOTHING_TO_FOLD as refusal:
        fits = question.trigger != "overflow" and call.budget.fits
        detail = f"{call.decision.detail}; {refusal.detail}"
        if fits:
            return _settled(question, "submit", reason, detail)
        return _settled(question, "blocked", "cannot_fit", detail)
    key = key_of(question.situation, planned, question.trigger, None)
    compactions = CompactionRepository(connection, question.situation.session.incarnation)
    pending = await compactions.pending()
    if question.trigger == "threshold" and pending is None:
        folded = await _by_artifact(resources, connection, question, planned)
        if folded is not None:
            return folded
        pending = await pending_twin(connection, question.situation, key)
    if pending is not None and pending.claim is not None and not _is_own(pending.claim, question):
        remaining = pending.claim.expires_at - question.now
        milliseconds = int(remaining.total_seconds() * 1000)
        if milliseconds > 0:
            settled = _settled(question, "wait", reason, "a compaction is under way")
            return settled.with_retry(min(milliseconds, LONGEST_RETRY_MS))
    wanted = CompactionCall(kind=question.trigger, plan_key=key)
    return _settled(question, "compact", reason, call.decision.detail).with_compaction(wanted)


async def _by_artifact(
    resources: Resources, connection: WriteConnection, question: _Question, fold: FoldPlan
) -> Decided | None:
    """The call after a fold that was summarised before; None where no artifact fits."""
    point, decision = question.point, question.made.call.decision
    request = CompactionRequest(
        kind="threshold",
        turn_id=None if point is None else point.turn_id,
        model_call=None if point is None else point.model_call,
        phase=decision.phase,
        instructions=None,
        style="conversation",
        other_plan="refuse",
        key=None,
    )
    ready = await installed_artifact(
        resources, connection, question.situation, fold, request, question.now
    )
    if ready is None:
        return None
    situation = await situation_of(resources, connection, ready.session)
    recipe = replace(
        question.made.recipe, view_id=ready.session.view_id, view_kind=situation.view_kind
    )
    standing = replace(question.made.standing, usage=ready.session.usage)
    made = await make_call(
        resources, connection, recipe, situation.items, ready.session.incarnation, standing
    )
    question = replace(question, situation=situation, made=made)
    detail = f"the summary of {ready.artifact_id} stands for the past; {decision.detail}"
    return _settled(question, "submit", "already_compacted", detail)


def _is_own(claim: Claim, question: _Question) -> bool:
    return question.key is not None and claim.key == question.key


def _settled(question: _Question, action: Action, reason: Reason, detail: str) -> Decided:
    decision = replace(question.made.call.decision, action=action, reason=reason, detail=detail)
    return Decided(situation=question.situation, made=question.made.with_decision(decision))


def _recovery(decided: Decided) -> Recovery | None:
    """What to remember of a report; where nothing helps, a repeat finds that out again."""
    match decided.made.call.decision.action:
        case "blocked":
            return None
        case "submit":
            return "pruned"
        case _:
            return "compact"


async def _earlier(
    connection: WriteConnection, situation: Situation, point: TurnPoint | None
) -> Sequence[Compaction]:
    if point is None or point.model_call is None:
        return ()
    compactions = CompactionRepository(connection, situation.session.incarnation)
    return await compactions.of_call(point.turn_id, point.model_call)
