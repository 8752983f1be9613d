"""Answers to a summary request: a summary that is installed, or a failed attempt.

Source: docs/semantics/compaction.md#the-protocol.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

from app.compaction.errors import StateError
from app.compaction.protocol import Report, on_attempt, transition
from app.compaction.record import Answered, Compaction, Rung
from app.compaction.refusals import ClaimLost, CompactionClosed
from app.compaction.summary_check import SummaryAccepted
from app.compaction.summary_request import SummaryRequest
from app.core import canonical
from app.core.stored import Session
from app.services.attempts import RETRIES_EXHAUSTED, Change, Step
from app.services.claims import claim_end
from app.services.compaction_answers import (
    checkpoint_json,
    kept_answer,
)
from app.services.events import tell_of_completion
from app.services.install import Summary, install_summary
from app.services.plans import request_of
from app.services.profiles import policy_of, profile_of, style_of
from app.services.resources import Resources
from app.services.situations import Situation, read_situation
from app.services.summary_bills import Bill, SummaryUsage, bill_of, pay_unused, with_bill
from app.services.summary_checks import checked_summary
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection
from app.store.sessions import SessionWriter

AttemptError: TypeAlias = Literal["context_overflow", "timeout", "transient", "deterministic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What a worker says of an attempt."""

    claim: str
    attempt: int
    usage: SummaryUsage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Event):
    """A model's answer."""

    summary: str
    finish_reason: str | None
    tool_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Event):
    """An attempt without an answer."""

    error: AttemptError
    detail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to an event, and the next summary request where there is one."""

    answer: Mapping[str, object]
    request: SummaryRequest | None


async def answer_compaction(
    resources: Resources, session_id: str, compaction_id: str, event: Completion | Failure
) -> Reply:
    """Take a worker's event; the same event again gets the same answer.

    Raises:
        SessionNotFound, CompactionNotFound: There is no such session or compaction.
        CompactionClosed: It has ended, and not by this event.
        ClaimLost: The event is not of the attempt asked for.
    """
    now = resources.now()
    async with resources.database.writing() as connection:
        session = await SessionWriter(connection).lock(session_id)
        compactions = CompactionWriter(connection, session.incarnation)
        compaction = await compactions.get(compaction_id)
        digest = digest_of(event)
        known = known_answer(compaction, event.attempt, digest)
        if known is None:
            refuse_closed(compaction)
            await _refuse_stale(compaction, event, session)
            compaction, known = await _settled(
                resources, connection, session_id, compaction, event, digest, now
            )
        request = None
        if known.rung is not None:
            request = await request_of(resources, connection, session, compaction, known.rung)
        return Reply(answer=known.answer, request=request)


async def _settled(
    resources: Resources,
    connection: WriteConnection,
    session_id: str,
    compaction: Compaction,
    event: Completion | Failure,
    digest: str,
    now: datetime,
) -> tuple[Compaction, Answered]:
    """The compaction after an event, and the answer to it, both stored."""
    situation = await read_situation(resources, connection, session_id)
    style = style_of(policy_of(situation.session))
    step = Step(compaction=compaction, style=style, now=now, claim_ends=claim_end(resources, now))
    said = await _report(compaction, event, situation.session)
    report: Report = "fail_for_good" if said.report in style.ends else said.report
    bill = await _bill(resources, connection, situation.session, compaction, event)
    counted = on_attempt(report, compaction.attempt, compaction.max_attempts, style.spends)
    outcome = transition("pending", counted)
    match outcome.action:
        case "install":
            assert said.summary is not None
            changed, answer, rung = await _accepted(
                resources, connection, situation, step, event.usage, said.summary, bill
            )
        case "next_attempt":
            allowed = compaction.max_attempts
            changed, answer, rung = step.next_attempt(said.detail, compaction.rung, allowed)
        case "smaller_attempt":
            changed, answer, rung = await _smaller(resources, connection, situation, step, report)
        case _:
            code = outcome.code or RETRIES_EXHAUSTED
            changed, answer, rung = step.failed(code, said.detail)
    if changed.checkpoint is None:
        await pay_unused(connection, with_bill(situation.session, bill), compaction, bill, now)
    known = Answered(attempt=event.attempt, event_sha256=digest, answer=answer, rung=rung)
    changed = replace(changed, answered=(*changed.answered, known))
    await CompactionWriter(connection, situation.session.incarnation).save(changed)
    return changed, known


async def _accepted(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    step: Step,
    usage: SummaryUsage | None,
    summary: str,
    bill: Bill,
) -> Change:
    """A usable summary: installed, or kept for a fold to come."""
    if step.compaction.kind == "prefetch":
        return _kept(situation.session, step, summary)
    given = Summary(text=summary, usage=_given(usage), bill=bill)
    return await _installed(resources, connection, situation, step, given)


def _kept(session: Session, step: Step, summary: str) -> Change:
    kept = replace(
        step.compaction,
        status="completed",
        claim=None,
        artifact=summary,
        updated_at=step.now,
    )
    return kept, kept_answer(session), None


async def _installed(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    step: Step,
    summary: Summary,
) -> Change:
    try:
        completed, answer = await install_summary(
            resources,
            connection,
            situation,
            step.compaction,
            summary,
            step.now,
        )
    except StateError as error:
        return step.failed(error.code, error.detail)
    await tell_of_completion(resources, connection, situation.session, completed, step.now)
    return completed, answer, None


async def _smaller(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    step: Step,
    report: Report,
) -> Change:
    """A smaller request after an overflow; where there is none, the end."""
    session, compaction = situation.session, step.compaction
    sent = await request_of(resources, connection, session, compaction, compaction.rung)
    rung = Rung(min_level=sent.level + 1, overflowed_tokens=sent.estimated_input_tokens)
    smaller = await request_of(resources, connection, session, compaction, rung)
    if smaller.problem is None:
        allowed = compaction.max_attempts
        if report not in step.style.spends:
            allowed = compaction.attempt + step.style.max_attempts
        return step.next_attempt(None, rung, allowed)
    outcome = transition("pending", "no_smaller_request")
    return step.failed(outcome.code or RETRIES_EXHAUSTED, "no smaller request is left")


async def _bill(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    compaction: Compaction,
    event: Completion | Failure,
) -> Bill:
    reply = event.summary if isinstance(event, Completion) else None
    return await bill_of(resources, connection, session, compaction, event.usage, reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What an event reports."""

    report: Report
    summary: str | None = None
    """What would be stored of it; set where the report is of a valid summary."""
    detail: str | None = None
    """What was wrong."""


async def _report(compaction: Compaction, event: Completion | Failure, session: Session) -> _Said:
    if isinstance(event, Failure):
        return _Said(report=failure_report(compaction, event), detail=event.detail)
    checked = await checked_summary(
        policy_of(session),
        profile_of(session),
        event.summary,
        event.finish_reason,
        event.tool_calls,
        compaction.max_attempts - compaction.attempt,
    )
    if isinstance(checked, SummaryAccepted):
        return _Said(report="complete_valid", summary=checked.summary)
    return _Said(report="complete_invalid", detail=checked.reason)


def failure_report(compaction: Compaction, event: Failure) -> Report:
    """What an attempt without an answer reports."""
    is_final = compaction.runner == "service" and event.error == "deterministic"
    return "fail_for_good" if is_final else _FAILURES[event.error]


_FAILURES: Mapping[AttemptError, Report] = {
    "context_overflow": "fail_context_overflow",
    "timeout": "fail_timeout",
    "transient": "fail_transient",
    "deterministic": "fail_deterministic",
}


def known_answer(compaction: Compaction, attempt: int, digest: str) -> Answered | None:
    """What the same event was answered before."""
    for answered in compaction.answered:
        if answered.attempt == attempt and answered.event_sha256 == digest:
            return answered
    return None


def refuse_closed(compaction: Compaction) -> None:
    """Refuse a report of a compaction that has ended.

    Raises:
        CompactionClosed: Names its status and checkpoint.
    """
    if compaction.status == "pending":
        return
    checkpoint = compaction.checkpoint
    raise CompactionClosed(
        f"compaction {compaction.id} is {compaction.status}",
        compaction_id=compaction.id,
        compaction_status=compaction.status,
        checkpoint=None if checkpoint is None else checkpoint_json(compaction, checkpoint),
    )


async def _refuse_stale(
    compaction: Compaction, event: Completion | Failure, session: Session
) -> None:
    """Refuse what is not of the current claim and attempt; a valid summary may come late."""
    if not is_current(compaction, event):
        said = await _report(compaction, event, session)
        refuse_lost_claim(compaction, event, said.report)


def is_current(compaction: Compaction, event: Event) -> bool:
    """Whether an event is under the current claim, and of the current attempt."""
    claim = compaction.claim
    return claim is not None and (event.claim, event.attempt) == (claim.token, compaction.attempt)


def refuse_lost_claim(compaction: Compaction, event: Event, report: Report) -> None:
    """Refuse a report of another claim or attempt, unless it brings what was asked for.

    Raises:
        ClaimLost: Names the attempt.
    """
    was_asked_for = event.claim in compaction.issued_tokens and event.attempt <= compaction.attempt
    if was_asked_for and report == "complete_valid":
        return
    raise ClaimLost(
        f"compaction {compaction.id} is at attempt {compaction.attempt}, "
        "and the report is on another one or under no claim of it",
        compaction_id=compaction.id,
        attempt=compaction.attempt,
    )


def _given(usage: SummaryUsage | None) -> Mapping[str, object] | None:
    return None if usage is None else usage.given


def digest_of(event: Completion | Failure) -> str:
    """Names what an event says, whoever says it."""
    if isinstance(event, Failure):
        parts: list[object] = ["fail", event.error, event.detail]
        if event.usage is not None:
            parts.append(event.usage.given)
    else:
        said = (event.summary, event.finish_reason, event.tool_calls)
        parts = ["complete", *said, _given(event.usage)]
    return sha256(canonical.encode(parts)).hexdigest()
