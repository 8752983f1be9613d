"""Windows: a new one begins in the transaction that replaces what a session shows.

Source: docs/semantics/usage.md#state.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from app.core.counting import tokens_of_bytes
from app.core.items import Item
from app.core.stored import Session
from app.services.calls import recipe_of, surface_of
from app.services.profiles import profile_of
from app.services.resources import Resources
from app.store.connections import ReadConnection, WriteConnection


async def advanced(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    view_id: str,
    after: Sequence[Item],
    now: datetime,
) -> Session:
    """The session in its next window, which starts with the items that a view shows."""
    estimated = await _estimated_context(resources, connection, session, after)
    return replace(
        session,
        view_id=view_id,
        window=session.window.advanced(resources.new_window_id()),
        usage=session.usage.in_new_window(estimated, profile_of(session)),
        version=session.version + 1,
        updated_at=now,
    )


async def _estimated_context(
    resources: Resources, connection: ReadConnection, session: Session, items: Sequence[Item]
) -> int:
    """Tokens of the session's system parts and of `items`, each rounded up by itself."""
    surface = await surface_of(resources, connection, recipe_of(session, {}))
    facts = [*(part.form.facts for part in surface.system), *(item.facts for item in items)]
    return sum(tokens_of_bytes(fact.json_bytes) for fact in facts)
