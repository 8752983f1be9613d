"""Agent definitions: immutable, named by the sha256 of their bytes."""

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from app.store.connections import ReadConnection, WriteConnection
from app.store.tables import agents


async def read_agent(connection: ReadConnection, ref: str) -> bytes:
    """The canonical definition of a ref that a stored row names."""
    rows = await connection.execute(select(agents.c.definition).where(agents.c.ref == ref))
    definition: bytes = rows.scalar_one()
    return definition


async def keep_agent(connection: WriteConnection, ref: str, definition: bytes) -> None:
    """Store a definition, once.

    A stored one is touched, so that no other transaction erases it as
    unused before this one refers to it.
    """
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(agents).values(ref=ref, definition=definition)
    await connection.execute(
        statement.on_conflict_do_update(
            index_elements=[agents.c.ref], set_={"ref": statement.excluded.ref}
        )
    )
