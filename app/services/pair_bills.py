"""What the calls for tool pairs took: one bill for each, as of any other summary.

Source: docs/semantics/usage.md#summary-calls.
"""

import asyncio
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.record import Compaction
from app.core.stored import Session
from app.core.usage_fill import filled_usage
from app.core.usage_report import NO_NUMBERS
from app.services.complete import Failure
from app.services.pair_batches import AskedPair, asked_pairs
from app.services.pair_events import BatchCompletion, GivenSummary
from app.services.profiles import policy_of, profile_of
from app.services.resources import Resources, counter_of
from app.services.summary_bills import Bill, summary_entry, with_bill
from app.store.connections import ReadConnection, WriteConnection
from app.store.sessions import SessionWriter
from app.store.usage import LedgerWriter

INSTALLED_CAUSE = "tool_pairs"
"""Of an entry whose summary stands for a pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairBill:
    """What the call for a pair counts."""

    call_ids: frozenset[str]
    """Nothing where a failure does not say of which pair it was."""
    bill: Bill


async def pair_bills(
    resources: Resources,
    connection: ReadConnection,
    session: Session,
    batch: Compaction,
    event: BatchCompletion | Failure,
) -> tuple[PairBill, ...]:
    """The bills of an event that say something, with estimates where the policy wants them."""
    if isinstance(event, Failure):
        numbers = NO_NUMBERS if event.usage is None else event.usage.numbers
        bills = [PairBill(call_ids=frozenset(), bill=Bill(numbers=numbers, is_estimated=False))]
    else:
        asked: Sequence[AskedPair] = ()
        if policy_of(session).missing_summary_usage == "estimated":
            asked = await asked_pairs(resources, connection, session, batch)
        by_calls = {frozenset(each.pair.call_ids): each for each in asked}
        bills = [
            PairBill(
                call_ids=frozenset(given.call_ids),
                bill=await _bill(session, given, by_calls.get(frozenset(given.call_ids))),
            )
            for given in event.pairs
        ]
    return tuple(each for each in bills if each.bill.numbers != NO_NUMBERS)


async def with_pair_bills(
    connection: WriteConnection,
    session: Session,
    batch: Compaction,
    bills: Sequence[PairBill],
    used: Set[frozenset[str]],
    now: datetime,
) -> Session:
    """The session with the bills in its totals, not saved, and the ledger told of each.

    `used` are the pairs whose summaries are installed.
    """
    ledger = LedgerWriter(connection, session.incarnation)
    for each in bills:
        session = with_bill(session, each.bill)
        entry = summary_entry(await ledger.next_ordinal(), session, batch, each.bill, now)
        if each.call_ids in used:
            entry = replace(entry, cause=INSTALLED_CAUSE)
        await ledger.add_event(entry, None)
    return session


async def pay_unused_pairs(
    connection: WriteConnection,
    session: Session,
    batch: Compaction,
    bills: Sequence[PairBill],
    now: datetime,
) -> None:
    """Store the bills of an attempt that installed nothing."""
    if not bills:
        return
    paid = await with_pair_bills(connection, session, batch, bills, frozenset(), now)
    await SessionWriter(connection).save(replace(paid, version=session.version + 1, updated_at=now))


async def _bill(session: Session, given: GivenSummary, asked: AskedPair | None) -> Bill:
    numbers = NO_NUMBERS if given.usage is None else given.usage.numbers
    is_whole = None not in (numbers.input_tokens, numbers.output_tokens)
    if is_whole or asked is None or given.summary is None:
        return Bill(numbers=numbers, is_estimated=False)
    output = await asyncio.to_thread(counter_of(profile_of(session)).count, given.summary)
    filled = filled_usage(numbers, asked.request.estimated_input_tokens, output)
    return Bill(numbers=filled, is_estimated=True)
