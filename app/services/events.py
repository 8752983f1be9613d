"""Events of sessions, stored in the transaction that they tell of.

From the first of them on nobody else can store one until the transaction ends. So a transaction
tells late, and takes no row of other sessions afterwards.

Source: docs/semantics/events.md.
"""

from datetime import datetime

from app.compaction.record import Compaction
from app.core.events import Event
from app.core.stored import Session
from app.services.compaction_answers import window_json
from app.services.history import NamedCall
from app.services.resources import Resources
from app.store.connections import WriteConnection
from app.store.events import EventWriter


async def tell_of_replacement(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    shown: Compaction,
    now: datetime,
) -> None:
    """The session shows the view of a fold or a rewind from now on, in its new window."""
    about = {"compaction_id": shown.id, "kind": shown.kind, "window": window_json(session)}
    event = Event(type="history_replaced", session_id=session.id, about=about)
    await _tell(resources, connection, session, event, now)


async def tell_of_completion(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    completed: Compaction,
    now: datetime,
) -> None:
    """A compaction has what stands for its fold; the provider keeps that of its own to itself."""
    plan = completed.plan
    about = {
        "compaction_id": completed.id,
        "kind": completed.kind,
        "plan_key": None if plan is None else plan.key,
    }
    event = Event(type="compaction_completed", session_id=session.id, about=about)
    await _tell(resources, connection, session, event, now)


async def tell_of_need(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    named: NamedCall,
    now: datetime,
) -> None:
    """A call waits for a compaction, where its decision says so; told once per plan."""
    decision = named.made.call.decision
    wanted = decision.compaction
    if decision.action != "compact" or wanted is None:
        return
    if await EventWriter(connection).tells_of(session.incarnation, wanted.plan_key):
        return
    about = {"plan_key": wanted.plan_key, "kind": wanted.kind, "reason": decision.reason}
    event = Event(type="compaction_needed", session_id=session.id, about=about)
    await _tell(resources, connection, session, event, now, wanted.plan_key)


async def tell_of_break(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    named: NamedCall,
    now: datetime,
) -> None:
    """A call does not repeat the one before it, where that is so."""
    broken = named.prefix.broken
    if broken is None:
        return
    about = {"prepared_id": named.id, "cause": broken.cause, "message_index": broken.at}
    event = Event(type="prefix_broken", session_id=session.id, about=about)
    await _tell(resources, connection, session, event, now)


async def _tell(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    event: Event,
    now: datetime,
    plan_key: str | None = None,
) -> None:
    await EventWriter(connection).add(event, session.incarnation, plan_key, now)
    resources.database.after_commit(connection, resources.listeners.wake)
