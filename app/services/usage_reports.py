"""Reports of usage: kept in the ledger, and answered with what they mean for the next call.

Source: docs/semantics/usage.md#reports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from app.core import canonical
from app.core.append import Draft
from app.core.call_size import CallSize
from app.core.ledger import LedgerEntry
from app.core.provider_context import ProviderContext
from app.core.stored import Session
from app.core.usage_report import UsageConflict
from app.policies.cut_answer import CutAnswer, after_cut
from app.policies.presets import policy_from
from app.services.append import Appended, Expected, append_drafts
from app.services.calls import Standing, make_call
from app.services.continuations import (
    continuation_message_id,
    cut_answer,
    identified,
    with_step,
)
from app.services.incoming import IncomingMessage, draft_messages
from app.services.profiles import policy_of, profile_of
from app.services.provider_contexts import refuse_unknown_messages, told_context
from app.services.reported_calls import (
    Arrival,
    ReportedCall,
    UsageReport,
    arrival_of,
    find_call,
    follow_up_of,
    speaks_for_thread,
    state_after,
)
from app.services.resources import Resources, counter_of
from app.services.sample_answers import SampleAnswer, decode_answer, encode_answer
from app.services.situations import Situation, caught_up, read_situation
from app.services.turns import TurnPoint, touch_turn
from app.store.connections import WriteConnection
from app.store.messages import Order
from app.store.sessions import SessionRepository, SessionWriter
from app.store.usage import Answered, LedgerRepository, LedgerWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """A report in the ledger: the session after it, not saved, and its answer."""

    session: Session
    answer: SampleAnswer


async def report_usage(resources: Resources, session_id: str, report: UsageReport) -> SampleAnswer:
    """Record a report and answer it; an equal repeat gets the same answer and counts once.

    Raises:
        SessionNotFound: There is no such session.
        PreparedNotFound: The report names a call that was never prepared.
        UsageConflict: The call was reported with other numbers.
        InvalidBoundary: The provider would hold a message that the session does not have.
        ContextError: The next request cannot be assembled.
    """
    async with resources.database.reading() as reader:
        seen = await read_situation(resources, reader, session_id)
    async with resources.database.writing() as connection:
        writer = SessionWriter(connection)
        locked = await writer.lock(session_id)
        situation = await caught_up(resources, connection, seen, locked)
        now = resources.now()
        recorded = await _record(resources, connection, situation, report, None, now)
        if recorded.session != locked:
            await writer.save(replace(recorded.session, version=locked.version + 1))
        return recorded.answer


async def append_with_usage(
    resources: Resources,
    session_id: str,
    incoming: Sequence[IncomingMessage],
    expected: Expected,
    report: UsageReport,
) -> tuple[Appended, SampleAnswer]:
    """Append a batch and record the report of the call that it answers, or change nothing.

    Raises:
        SessionNotFound: There is no such session.
        ContextError: The batch or the report is refused.
    """
    async with resources.database.reading() as reader:
        seen = await read_situation(resources, reader, session_id)
        drafts = await draft_messages(resources, incoming, counter_of(profile_of(seen.session)))
    async with resources.database.writing() as connection:
        writer = SessionWriter(connection)
        locked = await writer.lock(session_id)
        situation = await caught_up(resources, connection, seen, locked)
        now = resources.now()
        appended = await append_drafts(connection, locked, drafts, expected, now)
        situation = situation.with_items(appended.session, appended.items)
        place = _place_of_answer(drafts, appended)
        recorded = await _record(resources, connection, situation, report, place, now)
        if recorded.session != locked:
            await writer.save(replace(recorded.session, version=locked.version + 1))
        return appended, recorded.answer


async def list_usage(
    resources: Resources, session_id: str, order: Order, after: int | None, limit: int
) -> list[LedgerEntry]:
    """Up to `limit` entries of a session's ledger that come after an ordinal.

    Raises:
        SessionNotFound: There is no such session.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        ledger = LedgerRepository(connection, session.incarnation)
        return await ledger.page(order, after, limit)


def _place_of_answer(drafts: Sequence[Draft], appended: Appended) -> int | None:
    """The sequence of the last message of a batch that the model said."""
    places = [
        sequence
        for draft, (_, sequence) in zip(drafts, appended.placed, strict=True)
        if draft.message.role == "assistant"
    ]
    return places[-1] if places else None


async def _record(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    report: UsageReport,
    place: int | None,
    now: datetime,
) -> _Recorded:
    session = situation.session
    refuse_unknown_messages(replace(session, provider_context=_holding(session, report)))
    await _touch(connection, session, report, now)
    ledger = LedgerWriter(connection, session.incarnation)
    body = report.body()
    found = await find_call(connection, situation, report, place)
    call = await identified(ledger, session, report, found)
    known = await ledger.answered(call.identity)
    if known is not None:
        _refuse_other_report(known, body, report)
        return _Recorded(session=session, answer=decode_answer(known.answer))
    latest = await ledger.latest_report()
    arrival = arrival_of(report, call, latest, session)
    if arrival == "in_order" and call.size is None:
        size = await _size_through(resources, connection, situation, call.through_sequence)
        call = replace(call, size=size)
    usage, cut = state_after(session.usage, report, call, arrival), None
    if arrival == "in_order":
        cut = cut_answer(policy_of(session), usage, report, call, situation.items)
        usage = with_step(usage, cut, report, session.message_count)
    after = replace(session, usage=usage, updated_at=now)
    if speaks_for_thread(report, call, latest, session):
        after = replace(after, provider_context=_holding(session, report))
    told = replace(situation, session=after)
    answer = await _answer(resources, connection, told, report, call, cut)
    if answer.decision.reminder is not None:
        after = replace(after, usage=replace(usage, is_reminded=True))
    entry = _entry(await ledger.next_ordinal(), session, report, call, arrival, now)
    entry = _marked(entry, None if entry.is_late else latest)
    answered = Answered(report=body, answer=encode_answer(answer))
    await ledger.add_report(entry, call.identity, answered)
    return _Recorded(session=after, answer=answer)


async def _touch(
    connection: WriteConnection, session: Session, report: UsageReport, now: datetime
) -> None:
    """Renew the turn of a report; a late one must not move it back to its call."""
    if report.turn_id is not None:
        point = TurnPoint(turn_id=report.turn_id, model_call=None, sample=None)
        await touch_turn(connection, session, point, now)


def _holding(session: Session, report: UsageReport) -> ProviderContext | None:
    """What the provider holds, if the report speaks for its thread."""
    return told_context(session.provider_context, report.provider_context)


async def _size_through(
    resources: Resources, connection: WriteConnection, situation: Situation, sequence: int
) -> CallSize:
    """The size of the request that ended at a message, where nobody kept it."""
    session = situation.session
    items = tuple(item for item in situation.items if item.depends_on <= sequence)
    recipe = situation.recipe({}).through(sequence)
    standing = Standing(usage=session.usage)
    made = await make_call(resources, connection, recipe, items, session.incarnation, standing)
    return made.call.size


async def _answer(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    report: UsageReport,
    call: ReportedCall,
    cut: CutAnswer | None,
) -> SampleAnswer:
    """What the session's policy says with the report in the session's state."""
    session = situation.session
    # The call that would follow is no longer the first of its turn.
    standing = Standing(usage=session.usage, model_call=(report.model_call or 1) + 1)
    made = await make_call(
        resources,
        connection,
        situation.recipe({}),
        situation.items,
        session.incarnation,
        standing,
    )
    policy = policy_from(made.recipe.policy)
    measured, limits = made.call.measured, made.call.limits
    follow_up = follow_up_of(report, call, situation.items)
    if cut is not None and cut.is_continued:
        follow_up = replace(follow_up, model_needs_follow_up=True)
    decision = policy.after_sample(measured, limits, follow_up)
    if cut is not None:
        message_id = await continuation_message_id(connection, session, report, cut.retries)
        decision = after_cut(decision, cut, message_id, report.turn_id)
    return SampleAnswer(status=policy.status(measured, limits), decision=decision)


def _entry(
    ordinal: int,
    session: Session,
    report: UsageReport,
    call: ReportedCall,
    arrival: Arrival,
    now: datetime,
) -> LedgerEntry:
    return LedgerEntry(
        ordinal=ordinal,
        at=now,
        turn_id=report.turn_id,
        model_call=report.model_call,
        prepared_id=report.prepared_id,
        model=report.model,
        requested_model=call.requested_model,
        window_number=session.window.number,
        is_late=arrival != "in_order",
        event=None,
        cause=None,
        numbers=report.numbers,
        measures=call.measures,
    )


def _marked(entry: LedgerEntry, before: LedgerEntry | None) -> LedgerEntry:
    """The entry with the event that its call was; another model breaks every prefix anyway."""
    if before is not None and entry.switches_from(before):
        former = before.requested_model or before.model
        return replace(entry, event="model_switch", cause=former)
    cause = entry.measures.break_cause
    return entry if cause is None else replace(entry, event="prefix_break", cause=cause)


def _refuse_other_report(known: Answered, body: bytes, report: UsageReport) -> None:
    if known.report == body:
        return
    before, now = _said(known.report), _said(body)
    names = {*before, *now}
    differs = sorted(name for name in names if before.get(name) != now.get(name))
    raise UsageConflict(
        "the call was reported before, and otherwise",
        turn_id=report.turn_id,
        model_call=report.model_call,
        prepared_id=report.prepared_id,
        differs=differs,
    )


def _said(body: bytes) -> Mapping[str, object]:
    """The fields of a report by the names that callers give them, numbers among the others."""
    # Only the bytes of a report are stored under the identity of one.
    fields = cast("dict[str, object]", canonical.decode(body))
    numbers = cast("dict[str, object]", fields.pop("numbers"))
    return fields | numbers
