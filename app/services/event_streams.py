"""A stream of events: how a listener is kept up to date, and where it goes on after a break.

Source: docs/semantics/events.md#the-stream.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from anyio import CancelScope

from app.services.resources import Resources
from app.store.errors import DatabaseUnavailable
from app.store.events import EventFilter, EventRepository, StoredEvent

LARGEST_PAGE = 100
"""Events that are read at once, so that a slow listener holds few of them in memory."""

_EVENT_ID = re.compile(r"([0-9]{1,18})(?:-[0-9a-f]{32})?")
_UNKNOWN_PLACE = -1
"""Before every event, those that were given up included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a listener is told at once; without events, only where it stands."""

    events: tuple[StoredEvent, ...]
    place: int
    """The id up to which the listener has everything that it wants."""
    is_reset: bool = False
    """Whether events in front of these may be missing."""
    has_more: bool = False


async def first_place(resources: Resources, last_event_id: str | None) -> int:
    """Where a stream begins: behind the event that its listener had last, or with what comes.

    Raises:
        DatabaseUnavailable: There is nothing to be told, wherever it begins.
    """
    async with resources.database.reading() as connection:
        log = await EventRepository(connection).log()
    if last_event_id is None:
        return log.last_id
    known = _EVENT_ID.fullmatch(last_event_id)
    return _UNKNOWN_PLACE if known is None else int(known[1])


async def follow(resources: Resources, wanted: EventFilter, place: int) -> AsyncIterator[Page]:
    """The pages that come after a place, until the process or the database ends them.

    The first comes at once, and a page without events where none came for a while.
    """
    listeners, clock = resources.listeners, asyncio.get_running_loop().time
    due = clock()
    while not listeners.is_ending:
        pulse = listeners.pulse
        try:
            # A listener that leaves in the middle of it must not leave a connection half open.
            with CancelScope(shield=True):
                page = await _next(resources, wanted, place)
        except DatabaseUnavailable:
            # The listener comes again, and is told where the database is then.
            return
        place = page.place
        if page.events or page.is_reset or clock() >= due:
            yield page
            due = clock() + listeners.comment_seconds
        if not page.has_more:
            await listeners.pause(pulse, due - clock())


async def _next(resources: Resources, wanted: EventFilter, place: int) -> Page:
    async with resources.database.reading() as connection:
        repository = EventRepository(connection)
        log = await repository.log()
        if place > log.last_id:
            # Of another database, or of this one before it was restored.
            return Page(events=(), place=log.last_id, is_reset=True)
        if place < log.pruned_through:
            return Page(events=(), place=log.pruned_through, is_reset=True, has_more=True)
        if place == log.last_id:
            return Page(events=(), place=place)
        found = tuple(await repository.page(wanted, place, LARGEST_PAGE))
    if len(found) == LARGEST_PAGE:
        return Page(events=found, place=found[-1].id, has_more=True)
    return Page(events=found, place=log.last_id)
