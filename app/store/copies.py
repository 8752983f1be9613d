"""Copies of a session's rows under another incarnation, made by the database itself."""

from sqlalchemy import ColumnElement, Table, insert, literal, select

from app.store.compactions import installed_by
from app.store.connections import WriteConnection
from app.store.tables import (
    compactions,
    messages,
    visibility_changes,
    world_state_emissions,
    world_state_sections,
)


async def copy_history(
    connection: WriteConnection, source: str, target: str, through_sequence: int
) -> None:
    """Copy all that there is of the messages up to a sequence into a new session."""
    conditions: dict[Table, ColumnElement[bool] | None] = {
        messages: messages.c.sequence <= through_sequence,
        visibility_changes: visibility_changes.c.sequence <= through_sequence,
        compactions: installed_by(source, through_sequence),
        world_state_emissions: world_state_emissions.c.sequence <= through_sequence,
        world_state_sections: None,
    }
    for table, condition in conditions.items():
        await _copy(connection, table, source, target, condition)


async def _copy(
    connection: WriteConnection,
    table: Table,
    source: str,
    target: str,
    condition: ColumnElement[bool] | None,
) -> None:
    names = [column.name for column in table.columns if column.name != "incarnation"]
    rows = select(literal(target), *(table.c[name] for name in names)).where(
        table.c.incarnation == source
    )
    if condition is not None:
        rows = rows.where(condition)
    await connection.execute(insert(table).from_select(["incarnation", *names], rows))
