"""The stream of events of all sessions, as server-sent events.

Source: docs/semantics/events.md#the-stream.
"""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from starlette.requests import Request
from starlette.responses import StreamingResponse

from app.api.event_models import EventOut, EventQuery
from app.api.openapi_docs import refuses
from app.core import canonical
from app.core.errors import InvalidRequest, UnknownField
from app.core.events import TooManyStreams
from app.services.event_streams import Page, first_place, follow
from app.services.resources import Resources
from app.store.events import StoredEvent

router = APIRouter(prefix="/v1/events", tags=["events"])

_EXAMPLE = (
    "id: 41-0f9c1f6ab3a54d0c8f0e5d7d5a3b2c1e\n"
    "event: compaction_needed\n"
    'data: {"session_id":"s-1","type":"compaction_needed","plan_key":"…","kind":"threshold",'
    '"reason":"token_limit_reached"}\n\n'
)
_DESCRIPTION = "Server-sent events until either side ends them; the data of each is an `EventOut`."
_RESET = canonical.encode({"session_id": None, "type": "reset"})


class EventStreamResponse(StreamingResponse):
    """Server-sent events, which nobody in between may keep."""

    media_type = "text/event-stream"


async def _room(request: Request) -> AsyncIterator[Resources]:
    """The resources, and room for one more stream until the response has ended."""
    resources: Resources = request.app.state.resources
    with resources.listeners.place_for_one():
        yield resources


@router.get(
    "",
    response_model=EventOut,
    response_class=EventStreamResponse,
    responses={
        HTTPStatus.OK: {
            "description": _DESCRIPTION,
            "content": {EventStreamResponse.media_type: {"example": _EXAMPLE}},
        }
    }
    | refuses(InvalidRequest, UnknownField, TooManyStreams),
)
async def listen(
    service: Annotated[Resources, Depends(_room)],
    wanted: Annotated[EventQuery, Query()],
    last_event_id: Annotated[
        str | None, Header(alias="Last-Event-ID", description="The last id that the listener has.")
    ] = None,
) -> EventStreamResponse:
    """Server-sent events of all sessions, at least once each, in one order."""
    place = await first_place(service, last_event_id)
    pages = follow(service, wanted.filter(), place)
    stream = (_page_bytes(page) async for page in pages)
    return EventStreamResponse(stream, headers={"Cache-Control": "no-store"})


def _page_bytes(page: Page) -> bytes:
    """A page as it is sent; one without events is a comment that tells the listener's place."""
    if page.is_reset:
        return _block(str(page.place), "reset", _RESET)
    if not page.events:
        return b": the stream stands\nid: %d\n\n" % page.place
    return b"".join(map(_event_bytes, page.events))


def _event_bytes(event: StoredEvent) -> bytes:
    return _block(f"{event.id}-{event.incarnation}", event.type, event.data)


def _block(event_id: str, event_type: str, data: bytes) -> bytes:
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (event_id.encode(), event_type.encode(), data)
