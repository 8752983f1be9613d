"""The floor: bare ASGI applications that do the least that the same answer can cost.

`GET /SESSION` selects the stored contents of a session, joins and sends them.
`POST /SESSION` stores one row and advances a counter, in one transaction.
The rows read are the service's own; the rows written go to a copy of them.

Source: docs/performance.md#floor.
"""

import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol, TypeAlias

import aiosqlite
import asyncpg
from uvicorn import Config, Server

Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]

_COPY = (
    "CREATE TABLE floor_sessions AS SELECT id, message_count FROM sessions",
    "CREATE UNIQUE INDEX floor_sessions_id ON floor_sessions (id)",
    "CREATE TABLE floor_messages AS SELECT s.id, m.sequence, m.content"
    " FROM sessions s JOIN messages m ON m.incarnation = s.incarnation",
    "CREATE UNIQUE INDEX floor_messages_id ON floor_messages (id, sequence)",
)
_SESSIONS = "SELECT id, incarnation FROM sessions"
_SELECT = "SELECT content FROM messages WHERE incarnation = $1 ORDER BY sequence"
_UPDATE = (
    "UPDATE floor_sessions SET message_count = message_count + 1 WHERE id = $1"
    " RETURNING message_count"
)
_INSERT = "INSERT INTO floor_messages VALUES ($1, $2, $3)"


class Rows(Protocol):
    """The stored rows of one database, by its driver alone."""

    async def contents(self, session_id: str) -> list[bytes]:
        """The contents of a session's messages, in order."""

    async def append(self, session_id: str, content: bytes) -> None:
        """Store one more row."""

    async def close(self) -> None:
        """Close the connection."""


class SqliteRows:
    """Rows in SQLite, with the pragmas of the service."""

    def __init__(self, connection: aiosqlite.Connection, incarnations: dict[str, str]) -> None:
        self._connection = connection
        self._incarnations = incarnations

    @classmethod
    async def open(cls, path: str) -> "SqliteRows":
        """The rows of a database that the service has filled, with the copy made."""
        connection = await aiosqlite.connect(path, isolation_level=None)
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", *_COPY):
            await connection.execute(statement)
        sessions = await connection.execute_fetchall(_SESSIONS)
        return cls(connection, {row[0]: row[1] for row in sessions})

    async def contents(self, session_id: str) -> list[bytes]:
        """The contents of a session's messages, in order."""
        key = (self._incarnations[session_id],)
        return [row[0] for row in await self._connection.execute_fetchall(_numbered(_SELECT), key)]

    async def append(self, session_id: str, content: bytes) -> None:
        """Store one more row."""
        await self._connection.execute("BEGIN IMMEDIATE")
        ((count,),) = await self._connection.execute_fetchall(_numbered(_UPDATE), (session_id,))
        await self._connection.execute(_numbered(_INSERT), (session_id, count, content))
        await self._connection.execute("COMMIT")

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()


def _numbered(statement: str) -> str:
    """The statement with the names that SQLite gives to numbered parameters."""
    return statement.replace("$", "?")


class PostgresqlRows:
    """Rows in PostgreSQL."""

    def __init__(self, connection: asyncpg.Connection, incarnations: dict[str, str]) -> None:
        self._connection = connection
        self._incarnations = incarnations

    @classmethod
    async def open(cls, url: str) -> "PostgresqlRows":
        """The rows of a database that the service has filled, with the copy made."""
        connection = await asyncpg.connect(url)
        for statement in (*_COPY, "VACUUM ANALYZE"):
            await connection.execute(statement)
        sessions = await connection.fetch(_SESSIONS)
        return cls(connection, {row[0]: row[1] for row in sessions})

    async def contents(self, session_id: str) -> list[bytes]:
        """The contents of a session's messages, in order."""
        rows = await self._connection.fetch(_SELECT, self._incarnations[session_id])
        return [row[0] for row in rows]

    async def append(self, session_id: str, content: bytes) -> None:
        """Store one more row."""
        async with self._connection.transaction():
            count = await self._connection.fetchval(_UPDATE, session_id)
            await self._connection.execute(_INSERT, session_id, count, content)

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()


class Floor:
    """The ASGI application."""

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._rows: Rows

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one request, or start and stop."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["method"] == "POST":
            await self._rows.append(scope["path"][1:], await _body(receive))
            await _answer(send, b"{}")
        else:
            contents = await self._rows.contents(scope["path"][1:])
            await _answer(send, b"[%b]" % b",".join(contents))

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._rows = await _open(self._database_url)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._rows.close()
        await send({"type": "lifespan.shutdown.complete"})


async def _open(database_url: str) -> Rows:
    sqlite = "sqlite:///"
    if database_url.startswith(sqlite):
        return await SqliteRows.open(database_url.removeprefix(sqlite))
    return await PostgresqlRows.open(database_url)


async def _body(receive: Receive) -> bytes:
    body: bytes = b""
    while True:
        event = await receive()
        body += event.get("body", b"")
        if not event.get("more_body", False):
            return body


async def _answer(send: Send, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def main(database_url: str) -> None:
    """Serve the floor on a free loopback port until SIGTERM."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        # The same loop and HTTP implementation as the service gets.
        Server(Config(Floor(database_url), log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
