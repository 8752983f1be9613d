"""A listener to the events of a service in this process.

The client that other tests use reads a response to its end, which a stream does not have.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message, Scope

from tests.api.client import Json
from tests.api.contract import validator

PATIENCE_SECONDS = 30
"""Long, since a machine that runs other tests beside this one may be slow."""

EVENT = validator(json.dumps({"$ref": "#/components/schemas/EventOut"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a stream said at once: an event, or a comment without one."""

    id: str
    event: str | None
    data: Json | None

    @property
    def place(self) -> int:
        """The number of its id."""
        return int(self.id.partition("-")[0])


@dataclass(slots=True, kw_only=True)
class Listener:
    """An open stream."""

    messages: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)
    leaves: asyncio.Event = field(default_factory=asyncio.Event)
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    buffered: bytes = b""
    has_ended: bool = False

    async def told(self) -> Told:
        """What comes next."""
        while b"\n\n" not in self.buffered:
            self.buffered += await self._more()
        block, self.buffered = self.buffered.split(b"\n\n", 1)
        return read_block(block.decode())

    async def event(self) -> Told:
        """The event that comes next, whatever comments stand before it."""
        while True:
            told = await self.told()
            if told.event is not None:
                return told

    async def events(self, count: int) -> list[Told]:
        return [await self.event() for _ in range(count)]

    async def rest(self) -> bytes:
        """Everything up to the end of the stream."""
        while not self.has_ended:
            self.buffered += await self._more()
        return self.buffered

    async def receive(self) -> Message:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def _more(self) -> bytes:
        async with asyncio.timeout(PATIENCE_SECONDS):
            message = await self.messages.get()
        assert message["type"] == "http.response.body", message
        self.has_ended = not message.get("more_body", False)
        body: bytes = message["body"]
        return body


@asynccontextmanager
async def listening(
    app: ASGIApp, last_event_id: str | None = None, **query: Any
) -> AsyncIterator[Listener]:
    """A stream of events, from its headers until the listener leaves."""
    listener = Listener()
    headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
    scope = scope_of(headers, query)
    task = asyncio.create_task(run(app, scope, listener))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            started = await listener.messages.get()
        assert started["type"] == "http.response.start", started
        listener.status = started["status"]
        listener.headers = {name.decode(): value.decode() for name, value in started["headers"]}
        yield listener
    finally:
        listener.leaves.set()
        await task


async def run(app: ASGIApp, scope: Scope, listener: Listener) -> None:
    await app(scope, listener.receive, listener.messages.put)


def scope_of(headers: Mapping[str, str], query: Mapping[str, Any]) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/v1/events",
        "raw_path": b"/v1/events",
        "root_path": "",
        "query_string": urlencode(query).encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("foreword.test", 80),
    }


def read_block(block: str) -> Told:
    """One block of a stream, each line of which is a field or a comment."""
    fields = dict(line.split(": ", 1) for line in block.split("\n"))
    assert set(fields) in ({"", "id"}, {"id", "event", "data"}), block
    if "data" not in fields:
        return Told(id=fields["id"], event=None, data=None)
    data: Json = json.loads(fields["data"])
    assert not list(EVENT.iter_errors(data)), data
    assert data["type"] == fields["event"]
    return Told(id=fields["id"], event=fields["event"], data=data)
