"""Overflows: what a session is taken to hold once a provider has called its request too long.

Source: docs/semantics/usage.md#an-overflow.
"""

from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from app.core import canonical
from app.core.ledger import LedgerEntry
from app.core.limits import Limits
from app.core.stored import Session
from app.core.usage_report import filled
from app.services.same_window import is_same_window
from app.services.turns import TurnPoint
from app.store.compactions import CompactionRepository
from app.store.connections import WriteConnection
from app.store.prepared import RecordedCall
from app.store.usage import LedgerWriter


async def with_overflow(
    connection: WriteConnection,
    session: Session,
    call: RecordedCall,
    point: TurnPoint | None,
    limits: Limits | None,
    now: datetime,
) -> Session:
    """The session after a call of it overflowed, not saved; the ledger tells of it once.

    `limits` are the session's now, or None where the request was made shorter meanwhile, so that
    the window need not be full.
    """
    ledger = LedgerWriter(connection, session.incarnation)
    identity = sha256(canonical.encode(["overflow", call.id])).digest()
    if await ledger.has(identity):
        return session
    compactions = CompactionRepository(connection, session.incarnation)
    is_late = not await is_same_window(compactions, call.recipe.view_id, session.view_id)
    entry = _entry(await ledger.next_ordinal(), session, call, point, now)
    await ledger.add_event(replace(entry, is_late=is_late), identity)
    # Tool pairs that were summarised meanwhile have made the request shorter.
    if limits is None or call.recipe.view_id != session.view_id:
        return session
    return _full(session, limits)


def _full(session: Session, limits: Limits) -> Session:
    """The session with its window taken as full."""
    full = limits.hard_limit_tokens
    usage = filled(session.usage, limits.context_window if full is None else full)
    return replace(session, usage=usage)


def _entry(
    ordinal: int, session: Session, call: RecordedCall, point: TurnPoint | None, now: datetime
) -> LedgerEntry:
    return LedgerEntry(
        ordinal=ordinal,
        at=now,
        turn_id=None if point is None else point.turn_id,
        model_call=None if point is None else point.model_call,
        prepared_id=call.id,
        model=call.recipe.model,
        requested_model=call.recipe.model,
        window_number=session.window.number,
        is_late=False,
        event="overflow",
        cause=None,
        measures=call.measures,
    )
