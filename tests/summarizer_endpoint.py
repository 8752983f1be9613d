"""A small OpenAI-compatible endpoint on loopback that misbehaves as a test asks for."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
EVENTS = "text/event-stream"
JSON = "application/json"


@dataclass(slots=True)
class Received:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: Json


@dataclass(slots=True)
class Connection:
    """What a behaviour has to do with."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    endpoint: "MisbehavingEndpoint"


Behaviour: TypeAlias = Callable[[Connection], Awaitable[None]]


@dataclass(slots=True)
class MisbehavingEndpoint:
    """What was asked of it, and what it does next. Its last behaviour is repeated."""

    behaviours: list[Behaviour]
    url: str = ""
    received: list[Received] = field(default_factory=list)
    arrived: asyncio.Queue[Received] = field(default_factory=asyncio.Queue)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client leaves a request that was never answered."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    active: int = 0
    most_active: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        # Whoever still waits when the endpoint goes is cancelled.
        with suppress(asyncio.CancelledError):
            await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received = await _received(reader)
        if received is not None:
            behaviour = self.behaviours[min(len(self.received), len(self.behaviours) - 1)]
            self.received.append(received)
            self.active += 1
            self.most_active = max(self.most_active, self.active)
            self.arrived.put_nowait(received)
            await behaviour(Connection(reader, writer, self))
            self.active -= 1


@asynccontextmanager
async def misbehaving(*behaviours: Behaviour) -> AsyncIterator[MisbehavingEndpoint]:
    """An endpoint that answers one request after the other by the next of its behaviours."""
    endpoint = MisbehavingEndpoint(behaviours=list(behaviours))
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    endpoint.url = f"http://{host}:{port}/v1"
    try:
        async with server:
            yield endpoint
    finally:
        for task in endpoint.tasks:
            task.cancel()
        await asyncio.gather(*endpoint.tasks, return_exceptions=True)


async def _received(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers["content-length"]))
    return Received(path=first.split(" ")[1], headers=headers, body=json.loads(body))


def answering(
    status: int, body: bytes, content_type: str = JSON, *, length: int | None = None
) -> Behaviour:
    """An answer; with a `length` above its own it is cut off."""
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nconnection: close\r\n"
        f"content-type: {content_type}\r\n"
    )
    if length is not None:
        head += f"content-length: {length}\r\n"

    async def answer(connection: Connection) -> None:
        connection.writer.write(head.encode() + b"\r\n" + body)
        # A client that has read enough may be gone by now.
        await asyncio.gather(connection.writer.drain(), return_exceptions=True)

    return answer


def refusing(status: int, **error: object) -> Behaviour:
    """A refusal in OpenAI's words."""
    return answering(status, json.dumps({"error": error}).encode())


def streaming(*events: object) -> Behaviour:
    """A stream of events, as `sse` writes them."""
    return answering(200, sse(events), EVENTS)


def telling(text: str, finish_reason: str = "stop", usage: Json | None = None) -> Behaviour:
    """A well-behaved stream of a text in two pieces."""
    middle = len(text) // 2
    counted = [] if usage is None else [{"choices": [], "usage": usage}]
    return streaming(
        delta(content=text[:middle]),
        delta(content=text[middle:]),
        delta(finish_reason),
        *counted,
        "[DONE]",
    )


async def hanging(connection: Connection) -> None:
    """No answer, until the client gives up."""
    await connection.reader.read()
    connection.endpoint.hung_up.set()


def gated(gate: asyncio.Event, then: Behaviour) -> Behaviour:
    """Another behaviour, once a gate is open."""

    async def answer(connection: Connection) -> None:
        await gate.wait()
        await then(connection)

    return answer


def delta(finish_reason: str | None = None, **fields: object) -> Json:
    """One chunk of a streamed completion."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def sse(events: Iterable[object]) -> bytes:
    """Events as bytes; a string stands for itself."""
    payloads = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return "".join(f"data: {payload}\n\n" for payload in payloads).encode()
