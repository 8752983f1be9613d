"""Answers to a batch of tool pairs: the summaries that came are installed, the others skipped.

Source: docs/semantics/goose.md#tool-pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from app.compaction.protocol import SPENDING, Report, on_attempt, transition
from app.compaction.record import Answered, Compaction, PlannedPair
from app.core import canonical
from app.core.errors import InvalidRequest
from app.core.text import is_blank
from app.services.attempts import RETRIES_EXHAUSTED, Change, Step
from app.services.claims import claim_end
from app.services.complete import (
    Completion,
    Failure,
    Reply,
    answer_compaction,
    digest_of,
    failure_report,
    is_current,
    known_answer,
    refuse_closed,
    refuse_lost_claim,
)
from app.services.events import tell_of_completion
from app.services.pair_batches import AskedPair, asked_pairs
from app.services.pair_bills import PairBill, pair_bills, pay_unused_pairs, with_pair_bills
from app.services.pair_events import BatchCompletion, GivenSummary
from app.services.pair_install import PairSummary, install_pairs, installable
from app.services.profiles import policy_of, style_of
from app.services.resources import Resources
from app.services.situations import Situation, read_situation
from app.store.compactions import CompactionRepository, CompactionWriter
from app.store.connections import WriteConnection
from app.store.sessions import SessionRepository, SessionWriter

NO_SUMMARY = "no pair has a summary"
"""Why an answer is not usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReply:
    """The answer to an event, and what is asked next where something is."""

    answer: Mapping[str, object]
    pairs: tuple[AskedPair, ...] | None


async def answer_report(
    resources: Resources,
    session_id: str,
    compaction_id: str,
    event: Completion | BatchCompletion | Failure,
) -> Reply | BatchReply:
    """Take a worker's event of a compaction of whatever kind; a repeat gets the same answer.

    Raises:
        SessionNotFound, CompactionNotFound: There is no such session or compaction.
        InvalidRequest: A batch needs a summary for each pair, any other compaction needs one.
        CompactionClosed: It has ended, and not by this event.
        ClaimLost: The event is not of the attempt asked for.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        found = await CompactionRepository(connection, session.incarnation).get(compaction_id)
    if found.kind != "tool_pairs":
        if isinstance(event, BatchCompletion):
            raise InvalidRequest(f"a compaction of kind {found.kind} is completed with a summary")
        return await answer_compaction(resources, session_id, compaction_id, event)
    if isinstance(event, Completion):
        event = _of_one_pair(found, event)
    return await _answer_batch(resources, session_id, compaction_id, event)


def _of_one_pair(batch: Compaction, event: Completion) -> BatchCompletion:
    pairs = _pairs(batch)
    if len(pairs) != 1:
        raise InvalidRequest(f"a batch of {len(pairs)} tool pairs is completed with pairs")
    given = GivenSummary(call_ids=pairs[0].call_ids, summary=event.summary, usage=event.usage)
    return BatchCompletion(claim=event.claim, attempt=event.attempt, pairs=(given,))


async def _answer_batch(
    resources: Resources, session_id: str, compaction_id: str, event: BatchCompletion | Failure
) -> BatchReply:
    now = resources.now()
    async with resources.database.writing() as connection:
        session = await SessionWriter(connection).lock(session_id)
        batch = await CompactionWriter(connection, session.incarnation).get(compaction_id)
        digest = _digest(event)
        known = known_answer(batch, event.attempt, digest)
        if known is None:
            _refuse_other_pairs(batch, event)
            refuse_closed(batch)
            if not is_current(batch, event):
                refuse_lost_claim(batch, event, _report(batch, event)[0])
            situation = await read_situation(resources, connection, session_id)
            batch, known = await _settled(
                resources, connection, situation, batch, event, digest, now
            )
        pairs = None
        if known.rung is not None:
            pairs = await asked_pairs(resources, connection, session, batch)
        return BatchReply(answer=known.answer, pairs=pairs)


async def _settled(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    batch: Compaction,
    event: BatchCompletion | Failure,
    digest: str,
    now: datetime,
) -> tuple[Compaction, Answered]:
    """The batch after an event, and the answer to it, both stored."""
    style = style_of(policy_of(situation.session))
    step = Step(compaction=batch, style=style, now=now, claim_ends=claim_end(resources, now))
    report, detail = _report(batch, event)
    counted = on_attempt(report, batch.attempt, batch.max_attempts, SPENDING)
    outcome = transition("pending", counted)
    bills = await pair_bills(resources, connection, situation.session, batch, event)
    if outcome.action == "install":
        assert isinstance(event, BatchCompletion)
        changed, answer, rung = await _installed(
            resources, connection, situation, batch, event, bills, now
        )
    else:
        await pay_unused_pairs(connection, situation.session, batch, bills, now)
        if outcome.action == "next_attempt":
            changed, answer, rung = step.next_attempt(detail, batch.rung, batch.max_attempts)
        else:
            changed, answer, rung = step.failed(outcome.code or RETRIES_EXHAUSTED, detail)
    known = Answered(attempt=event.attempt, event_sha256=digest, answer=answer, rung=rung)
    changed = replace(changed, answered=(*changed.answered, known))
    await CompactionWriter(connection, situation.session.incarnation).save(changed)
    return changed, known


async def _installed(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    batch: Compaction,
    event: BatchCompletion,
    bills: Sequence[PairBill],
    now: datetime,
) -> Change:
    """The completed batch; what has no usable summary, or is no longer whole, is skipped."""
    plan = batch.plan
    assert plan is not None
    usable = [
        PairSummary(pair=pair, text=given.summary)
        for pair, given in _matched(plan.pairs, event)
        if given.summary is not None and not is_blank(given.summary)
    ]
    summaries = installable(situation, plan, usable)
    used = {summary.pair.call_ids for summary in summaries}
    installed = {frozenset(call_ids) for call_ids in used}
    session = await with_pair_bills(connection, situation.session, batch, bills, installed, now)
    completed, answer = await install_pairs(
        connection, situation, session, batch, plan, summaries, now
    )
    await tell_of_completion(resources, connection, session, completed, now)
    skipped = [list(pair.call_ids) for pair in plan.pairs if pair.call_ids not in used]
    return completed, {**answer, "skipped": skipped}, None


def _report(batch: Compaction, event: BatchCompletion | Failure) -> tuple[Report, str | None]:
    """What an event reports, and what was wrong with it."""
    if isinstance(event, Failure):
        # A pair is as small as it gets; one that is too long is left out of an answer.
        is_too_long = event.error == "context_overflow"
        return "no_smaller_request" if is_too_long else failure_report(batch, event), event.detail
    if all(given.summary is None or is_blank(given.summary) for given in event.pairs):
        return "complete_invalid", NO_SUMMARY
    return "complete_valid", None


def _refuse_other_pairs(batch: Compaction, event: BatchCompletion | Failure) -> None:
    """Refuse what names calls that are no pair of the batch, or a pair twice."""
    if isinstance(event, Failure):
        return
    left = [set(pair.call_ids) for pair in _pairs(batch)]
    for given in event.pairs:
        if set(given.call_ids) not in left:
            raise InvalidRequest(
                f"{', '.join(given.call_ids)[:200]!r} is no pair of the batch, or is given twice"
            )
        left.remove(set(given.call_ids))


def _matched(
    pairs: Sequence[PlannedPair], event: BatchCompletion
) -> list[tuple[PlannedPair, GivenSummary]]:
    """Pairs and what came for them, in the order of the pairs."""
    given = {frozenset(each.call_ids): each for each in event.pairs}
    return [
        (pair, given[frozenset(pair.call_ids)])
        for pair in pairs
        if frozenset(pair.call_ids) in given
    ]


def _pairs(batch: Compaction) -> tuple[PlannedPair, ...]:
    return () if batch.plan is None else batch.plan.pairs


def _digest(event: BatchCompletion | Failure) -> str:
    """Names what an event says, whoever says it."""
    if isinstance(event, Failure):
        return digest_of(event)
    said = [
        [list(each.call_ids), each.summary, None if each.usage is None else each.usage.given]
        for each in event.pairs
    ]
    return sha256(canonical.encode(["pairs", said])).hexdigest()
