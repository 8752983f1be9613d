"""What the database holds and what it was asked, beneath the service."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import event, select
from sqlalchemy.engine import Engine

from app.store.database import Database
from app.store.tables import metadata

Rows: TypeAlias = dict[str, list[tuple[Any, ...]]]
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE) (\w+)")


async def stored_rows(database_url: str) -> Rows:
    """Every row of every table."""
    database = Database(database_url)
    try:
        async with database.reading() as connection:
            return {
                table.name: sorted(
                    (tuple(row) for row in await connection.execute(select(table))), key=repr
                )
                for table in metadata.sorted_tables
            }
    finally:
        await database.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement that a database ran."""

    what: str
    """Its verb and its first table."""
    rows: int
    """How many it gave back."""


@contextmanager
def recorded_statements() -> Iterator[list[Statement]]:
    """The statements that run inside the block, those that begin transactions left out."""
    statements: list[Statement] = []

    def record(_connection: object, cursor: object, text: str, *_: object) -> None:
        verb, table = text.split(maxsplit=1)[0], _TABLE.search(text)
        if table is not None:
            # Both drivers fetch all rows of a statement at once and keep them here.
            rows = len(getattr(cursor, "_rows"))  # noqa: B009 - a private name of SQLAlchemy
            statements.append(Statement(what=f"{verb} {table[1]}", rows=rows))

    event.listen(Engine, "after_cursor_execute", record)
    try:
        yield statements
    finally:
        event.remove(Engine, "after_cursor_execute", record)
