"""Brings a database to the newest schema.

Source: docs/adr/0010-store.md.
"""

import asyncio
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.engine import Connection

from app.store.database import Database

_APP = Path(__file__).parents[1]
_LOCK = 0x464F5245
"""The key of the advisory lock that keeps two migrating processes apart."""


def migrate(url: str, revision: str = "head") -> None:
    """Upgrade the database of `url` in one transaction.

    Raises:
        UnsupportedDatabaseUrl: The URL names a database that is not served.
    """
    asyncio.run(_migrate(url, revision))


async def _migrate(url: str, revision: str) -> None:
    database = Database(url)
    try:
        async with database.writing() as connection:
            await connection.run_sync(upgrade, revision)
    finally:
        await database.close()


def upgrade(connection: Connection, revision: str) -> None:
    """Upgrade through a connection whose transaction the caller ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    command.upgrade(alembic_config(connection), revision)


def downgrade(connection: Connection, revision: str) -> None:
    """Downgrade through a connection whose transaction the caller ends."""
    command.downgrade(alembic_config(connection), revision)


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration for one connection."""
    config = Config()
    config.set_main_option("script_location", str(_script_location()))
    config.attributes["connection"] = connection
    return config


def _script_location() -> Path:
    # A wheel carries the revisions inside the package, a checkout beside it.
    packaged = _APP / "migrations"
    return packaged if packaged.is_dir() else _APP.parent / "alembic"
