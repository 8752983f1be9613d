"""Agent definitions: immutable, named by the sha256 of their bytes."""

from collections.abc import Collection

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from app.store.connections import ReadConnection, WriteConnection
from app.store.tables import agents, prepared_calls, sessions


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


async def lock_agents(connection: WriteConnection, refs: Collection[str]) -> None:
    """Keep other transactions from referring anew to some definitions.

    They are taken in one order, so that no two transactions wait for each
    other; what comes after in this one sees every reference made before.
    """
    await connection.execute(
        select(agents.c.ref).where(agents.c.ref.in_(refs)).order_by(agents.c.ref).with_for_update()
    )


async def erase_unused_agents(connection: WriteConnection, refs: Collection[str]) -> None:
    """Erase those of some locked definitions that no stored row names."""
    await connection.execute(
        delete(agents)
        .where(agents.c.ref.in_(refs))
        .where(agents.c.ref.not_in(select(sessions.c.agent_ref)))
        .where(agents.c.ref.not_in(select(prepared_calls.c.agent_ref)))
    )
