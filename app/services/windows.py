"""Windows: a new one begins in the transaction that replaces what a session shows.

Source: docs/semantics/usage.md#state.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from app.compaction.record import Compaction
from app.core.counting import tokens_of_bytes
from app.core.items import Item
from app.core.ledger import CallMeasures
from app.core.local_estimate import item_tokens
from app.core.policy import ShownItems
from app.core.stored import Session
from app.services.calls import recipe_of, surface_of
from app.services.events import tell_of_replacement
from app.services.profiles import policy_of, profile_of
from app.services.resources import Resources
from app.services.summary_bills import Bill, summary_entry
from app.store.connections import ReadConnection, WriteConnection
from app.store.usage import LedgerWriter


async def advanced(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    shown: Compaction,
    after: Sequence[Item],
    bill: Bill,
    now: datetime,
) -> Session:
    """The session in its next window; the ledger and those who listen are told of it.

    The window starts with `after`, the items that the view of the fold or rewind `shown` shows.
    `bill` is what its summary took; the session has it in its totals.
    """
    estimated = await _estimated_context(resources, connection, session, after)
    shown_items = ShownItems(items=tuple(after), chat=resources.chats)
    line = policy_of(session).line
    total = await asyncio.to_thread(line.starting_total, estimated, shown_items)
    window = session.window.advanced(resources.new_window_id())
    ledger = LedgerWriter(connection, session.incarnation)
    entry = summary_entry(await ledger.next_ordinal(), session, shown, bill, now)
    begun = replace(
        entry,
        window_number=window.number,
        event="compaction",
        cause=shown.kind,
        measures=CallMeasures(estimated_tokens=estimated),
    )
    await ledger.add_event(begun, None)
    changed = replace(
        _in_thread(session, shown),
        view_id=shown.id,
        window=window,
        usage=session.usage.in_new_window(estimated, total, profile_of(session)),
        version=session.version + 1,
        updated_at=now,
    )
    await tell_of_replacement(resources, connection, changed, shown, now)
    return changed


def _in_thread(session: Session, shown: Compaction) -> Session:
    """The session with what its provider still holds: only its own folds leave that true."""
    is_own = shown.kind == "provider"
    return session if is_own else replace(session, provider_context=None)


async def _estimated_context(
    resources: Resources, connection: ReadConnection, session: Session, items: Sequence[Item]
) -> int:
    """Tokens of the session's system parts and of `items`, each rounded up by itself."""
    surface = await surface_of(resources, connection, recipe_of(session, {}))
    system = sum(tokens_of_bytes(part.form.facts.json_bytes) for part in surface.system)
    # Items with media are parsed for their estimate.
    return system + await asyncio.to_thread(lambda: sum(map(item_tokens, items)))
