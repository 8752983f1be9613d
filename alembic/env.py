"""Runs migrations on a connection that is given, or on DATABASE_URL."""

import asyncio
import os
from typing import Literal

from alembic import context
from sqlalchemy.engine import Connection

import app.store.event_tables  # noqa: F401 - its tables belong to the metadata
from app.store.database import Database
from app.store.tables import UtcDateTime, metadata


def render_item(kind: str, item: object, _context: object) -> str | Literal[False]:
    """The column type of a revision, which must not depend on today's code."""
    is_moment = kind == "type" and isinstance(item, UtcDateTime)
    return "sa.DateTime(timezone=True)" if is_moment else False


def run(connection: Connection) -> None:
    """Run the migrations that the command asked for."""
    context.configure(
        connection=connection,
        target_metadata=metadata,
        compare_type=True,
        render_item=render_item,
        render_as_batch=connection.dialect.name == "sqlite",
    )
    context.run_migrations()


async def run_on_own_connection() -> None:
    """Connect to DATABASE_URL for the `alembic` command itself."""
    database = Database(os.environ.get("DATABASE_URL", "sqlite:///foreword.db"))
    try:
        async with database.writing() as connection:
            await connection.run_sync(run)
    finally:
        await database.close()


given = context.config.attributes.get("connection")
if given is None:
    asyncio.run(run_on_own_connection())
else:
    run(given)
