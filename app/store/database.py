"""The engine and the unit of work.

Source: docs/adr/0010-store.md.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from typing import cast

from sqlalchemy import URL, event, make_url, select
from sqlalchemy.engine import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from app.store.connections import ReadConnection, WriteConnection
from app.store.errors import DatabaseUnavailable, UnsupportedDatabaseUrl
from app.store.tables import sessions

_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+asyncpg",
    "postgres": "postgresql+asyncpg",
}
_WRITES = "foreword_writes"
_SNAPSHOT: Mapping[str, Mapping[str, str]] = {
    "sqlite": {},
    "postgresql": {"isolation_level": "REPEATABLE READ"},
}
"""What makes a transaction see one state throughout; on SQLite every one does."""

_SERVER_STATES = ("08", "28", "3D", "40", "42P01", "53", "55", "57")
"""How PostgreSQL's codes begin where the server, not the statement, is at fault: it cannot be
reached or entered, has no such database or table, lacks resources, is starting or stopping, or
chose this transaction to end a deadlock."""

BUSY_TIMEOUT_MS = 10_000
"""How long SQLite waits for another process's transaction."""


class Database:
    """An engine with its two kinds of transactions."""

    def __init__(self, url: str) -> None:
        self.engine: AsyncEngine = _create_engine(_driver_url(url))
        self._writes = self.engine.execution_options(**{_WRITES: True})
        self._reads = self.engine.execution_options(**_SNAPSHOT[self.engine.dialect.name])
        # SQLite takes one writer at a time: waiting here is fair and cheap,
        # waiting on its busy timeout is neither.
        self._writer_gate: AbstractAsyncContextManager[object] = (
            asyncio.Lock() if self.engine.dialect.name == "sqlite" else nullcontext()
        )
        self._after_commits: dict[WriteConnection, list[Callable[[], None]]] = {}

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[ReadConnection]:
        """A read transaction, which sees one state however long it takes."""
        with _named_failures():
            async with self._reads.connect() as connection, connection.begin():
                # The new type only marks what the connection may be used for.
                yield cast("ReadConnection", connection)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[WriteConnection]:
        """A transaction that commits when the block ends, or changes nothing."""
        calls: list[Callable[[], None]] = []
        with _named_failures():
            async with self._writer_gate, self._writes.begin() as connection:
                # The new type only marks what the connection may be used for.
                writer = cast("WriteConnection", connection)
                self._after_commits[writer] = calls
                try:
                    yield writer
                finally:
                    del self._after_commits[writer]
        for call in calls:
            call()

    def after_commit(self, connection: WriteConnection, call: Callable[[], None]) -> None:
        """Call once the connection's transaction has committed, and never if it does not."""
        self._after_commits[connection].append(call)

    async def ping(self) -> None:
        """Ask the database for a sign of life, and whether it is migrated.

        Raises:
            DatabaseUnavailable: It does not answer, or holds no sessions table.
        """
        async with self.reading() as connection:
            await connection.execute(select(sessions.c.id).limit(0))

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


@contextmanager
def _named_failures() -> Iterator[None]:
    """Failures of the database itself under one name, so that callers can retry."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout, OSError) as error:
        raise _unavailable() from error
    except DBAPIError as error:
        sqlstate: str = getattr(error.orig, "sqlstate", None) or ""
        if error.connection_invalidated or sqlstate.startswith(_SERVER_STATES):
            raise _unavailable() from error
        raise


def _unavailable() -> DatabaseUnavailable:
    return DatabaseUnavailable("the database does not answer or is not migrated; nothing is stored")


def _driver_url(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise UnsupportedDatabaseUrl("the database URL cannot be read as a URL") from error
    driver = _DRIVERS.get(parsed.get_backend_name())
    if driver is None:
        raise UnsupportedDatabaseUrl(
            f"{parsed.drivername!r} is not supported; use sqlite:///PATH or postgresql://…"
        )
    return parsed.set(drivername=driver)


def _create_engine(url: URL) -> AsyncEngine:
    engine = create_async_engine(
        # Statements carry message text, which must reach no log.
        url,
        hide_parameters=True,
        pool_pre_ping=url.get_backend_name() != "sqlite",
    )
    if url.get_backend_name() == "sqlite":
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    # The driver's own transaction handling would begin too late for reads.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
