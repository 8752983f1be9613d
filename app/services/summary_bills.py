"""What the calls of summaries took: in the session's totals, and an entry of its ledger for each.

Source: docs/semantics/usage.md#summary-calls.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.record import Compaction
from app.core.ledger import LedgerEntry
from app.core.stored import Session
from app.core.usage_fill import filled_usage
from app.core.usage_report import NO_NUMBERS, InvalidUsage, UsageNumbers, billed
from app.importers.usage import usage_from
from app.services.plans import request_of
from app.services.profiles import policy_of, profile_of
from app.services.resources import Resources, counter_of
from app.store.connections import ReadConnection, WriteConnection
from app.store.sessions import SessionWriter
from app.store.usage import LedgerWriter

UNUSED_CAUSE = "summary_unused"
"""Of an entry whose summary was not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryUsage:
    """What a provider said of a summary's call: as it was given, and the numbers of it."""

    given: Mapping[str, object]
    numbers: UsageNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a summary's call counts."""

    numbers: UsageNumbers
    is_estimated: bool
    """Whether some of them are estimates."""


NO_BILL = Bill(numbers=NO_NUMBERS, is_estimated=False)
"""Of a call of which nobody said what it took."""


def chat_usage(given: Mapping[str, object] | None) -> SummaryUsage | None:
    """The usage of a chat completion; what counts no tokens is kept all the same."""
    if given is None:
        return None
    try:
        return SummaryUsage(given=given, numbers=usage_from("openai.chat", given))
    except InvalidUsage:
        return SummaryUsage(given=given, numbers=NO_NUMBERS)


async def bill_of(
    resources: Resources,
    connection: ReadConnection,
    session: Session,
    compaction: Compaction,
    usage: SummaryUsage | None,
    reply: str | None,
) -> Bill:
    """What an attempt counts: as reported, and where the policy says so with estimates of the rest.

    Args:
        resources: Of the process.
        connection: Where plan and messages are read.
        session: As the compaction is asked for.
        compaction: At the attempt.
        usage: As reported.
        reply: The whole answer of the model; None for a call without one, which is not estimated.
    """
    numbers = NO_NUMBERS if usage is None else usage.numbers
    is_whole = None not in (numbers.input_tokens, numbers.output_tokens)
    fills = policy_of(session).missing_summary_usage == "estimated"
    if is_whole or reply is None or not fills:
        return Bill(numbers=numbers, is_estimated=False)
    request = await request_of(resources, connection, session, compaction, compaction.rung)
    counter = counter_of(compaction.compact_with or profile_of(session))
    output = await asyncio.to_thread(counter.count, reply)
    filled = filled_usage(numbers, request.estimated_input_tokens, output)
    return Bill(numbers=filled, is_estimated=True)


def with_bill(session: Session, bill: Bill) -> Session:
    """The session with a bill in its totals."""
    totals = billed(session.usage.totals, bill.numbers)
    return replace(session, usage=replace(session.usage, totals=totals))


async def pay_unused(
    connection: WriteConnection,
    session: Session,
    compaction: Compaction,
    bill: Bill,
    now: datetime,
) -> None:
    """Store the bill of an attempt that installed nothing; `session` has it in its totals."""
    if bill.numbers == NO_NUMBERS:
        return
    ledger = LedgerWriter(connection, session.incarnation)
    entry = summary_entry(await ledger.next_ordinal(), session, compaction, bill, now)
    await ledger.add_event(entry, None)
    await SessionWriter(connection).save(
        replace(session, version=session.version + 1, updated_at=now)
    )


def summary_entry(
    ordinal: int, session: Session, compaction: Compaction, bill: Bill, now: datetime
) -> LedgerEntry:
    """The entry of a summary's call, which has installed nothing so far."""
    profile = compaction.compact_with
    return LedgerEntry(
        ordinal=ordinal,
        at=now,
        turn_id=compaction.turn_id,
        model_call=compaction.model_call,
        prepared_id=None,
        model=session.model if profile is None else profile.name,
        requested_model=None,
        window_number=session.window.number,
        is_late=False,
        event=None,
        cause="prefetch" if compaction.kind == "prefetch" else UNUSED_CAUSE,
        numbers=bill.numbers,
        is_estimated=bill.is_estimated,
    )
