"""SIGTERM: what is in flight is finished, and the process ends well."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from app.server import GRACE_SECONDS
from tests.api.client import Api, service, user
from tests.store.processes import STARTS_WITHIN_SECONDS, Server, serving

BODY = json.dumps({"messages": [user("in flight", "m")]}).encode()


async def append_across_a_stop(server: Server) -> bytes:
    """The answer to an append whose body follows only when the service was told to stop."""
    address = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = (
        "POST /v1/sessions/s/messages HTTP/1.1",
        f"Host: {address.netloc}",
        "Content-Type: application/json",
        f"Content-Length: {len(BODY)}",
        "Expect: 100-continue",
    )
    writer.write("\r\n".join([*head, "", ""]).encode())
    # The service asks for the body only once it is at work on the request.
    assert b"100 Continue" in await reader.readuntil(b"\r\n\r\n")
    server.process.send_signal(signal.SIGTERM)
    await refuses_connections(address.hostname or "", address.port or 0)
    writer.write(BODY)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def refuses_connections(host: str, port: int) -> None:
    """Return once the service no longer listens: it has begun to stop."""
    while True:
        try:
            _, writer = await asyncio.open_connection(host, port)
        except ConnectionError:
            return
        writer.close()
        await writer.wait_closed()


async def test_a_request_in_flight_is_finished(database_url: str) -> None:
    with serving(database_url) as server:
        async with httpx.AsyncClient(base_url=server.url) as client:
            await Api(client=client).session()
        answer = await append_across_a_stop(server)
        status = server.process.wait(STARTS_WITHIN_SECONDS)
    async with service(database_url) as client:
        session = await Api(client=client).session()

        assert answer.startswith(b"HTTP/1.1 201 ")
        assert [message["id"] for message in await session.messages()] == ["m"]
        assert status == 0


async def ended_by_a_stop(server: Server, listeners: int) -> tuple[list[str], int]:
    """The media types of streams that are open when the service is told to stop; its status."""
    async with AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(open_stream(server.url)) for _ in range(listeners)
        ]
        server.process.send_signal(signal.SIGTERM)
        for stream in streams:
            await stream.aread()
        types = [stream.headers["content-type"] for stream in streams]
    # Well before the service would end them by force.
    return types, server.process.wait(GRACE_SECONDS / 2)


@asynccontextmanager
async def open_stream(url: str) -> AsyncIterator[httpx.Response]:
    async with (
        httpx.AsyncClient(base_url=url, timeout=GRACE_SECONDS / 2) as client,
        client.stream("GET", "/v1/events") as response,
    ):
        yield response


async def test_streams_of_events_end_with_the_service(database_url: str) -> None:
    with serving(database_url) as server:
        types, status = await ended_by_a_stop(server, 3)

    assert types == ["text/event-stream; charset=utf-8"] * 3
    assert status == 0


@pytest.mark.long
async def test_streams_of_several_workers_end_with_the_service(postgresql_url: str) -> None:
    with serving(postgresql_url, "--workers", "2") as server:
        types, status = await ended_by_a_stop(server, 8)

    assert types == ["text/event-stream; charset=utf-8"] * 8
    assert status == 0


@pytest.mark.long
async def test_several_workers_share_one_database_and_stop_together(postgresql_url: str) -> None:
    with serving(postgresql_url, "--workers", "2") as server:
        async with httpx.AsyncClient(base_url=server.url) as client:
            session = await Api(client=client).session()
            await asyncio.gather(*(session.append(user("hello")) for _ in range(40)))
            sequences = [message["sequence"] for message in await session.messages()]
        server.process.send_signal(signal.SIGTERM)
        status = server.process.wait(STARTS_WITHIN_SECONDS)

    assert sequences == list(range(1, 41))
    assert status == 0
