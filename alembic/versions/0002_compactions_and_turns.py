"""compactions and turns."""

from collections.abc import Sequence
from uuid import uuid4

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "compactions",
        sa.Column("incarnation", sa.String(length=32), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("turn_id", sa.String(length=128), nullable=True),
        sa.Column("model_call", sa.BigInteger(), nullable=True),
        sa.Column("plan_key", sa.String(length=64), nullable=True),
        sa.Column("checkpoint_sequence", sa.BigInteger(), nullable=True),
        sa.Column("replaced_through_sequence", sa.BigInteger(), nullable=True),
        sa.Column("record", sa.LargeBinary(), nullable=False),
        sa.Column("claim_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["incarnation"],
            ["sessions.incarnation"],
            name=op.f("fk_compactions_incarnation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("incarnation", "id", name=op.f("pk_compactions")),
    )
    with op.batch_alter_table("compactions", schema=None) as batch_op:
        batch_op.create_index(
            "ix_compactions_incarnation_ordinal", ["incarnation", "ordinal"], unique=False
        )

    op.create_table(
        "turns",
        sa.Column("incarnation", sa.String(length=32), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("owner", sa.LargeBinary(), nullable=True),
        sa.Column("lease_seconds", sa.BigInteger(), nullable=False),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("plan", sa.LargeBinary(), nullable=True),
        sa.Column("model_call", sa.BigInteger(), nullable=True),
        sa.Column("sample", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["incarnation"],
            ["sessions.incarnation"],
            name=op.f("fk_turns_incarnation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("incarnation", "id", name=op.f("pk_turns")),
    )
    with op.batch_alter_table("turns", schema=None) as batch_op:
        batch_op.create_index(
            "ix_turns_incarnation_ordinal", ["incarnation", "ordinal"], unique=False
        )

    op.create_table(
        "world_state_emissions",
        sa.Column("incarnation", sa.String(length=32), nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("section_id", sa.String(length=128), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("notice_chars", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["incarnation"],
            ["sessions.incarnation"],
            name=op.f("fk_world_state_emissions_incarnation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("incarnation", "sequence", name=op.f("pk_world_state_emissions")),
    )
    # Columns are only added: SQLite would have to make the table anew for
    # anything else, and its cascades would take every message with the old one.
    op.add_column("prepared_calls", sa.Column("recovery", sa.LargeBinary(), nullable=True))
    for column in (
        sa.Column("pruned_through_sequence", sa.BigInteger(), nullable=True),
        sa.Column("view_id", sa.String(length=128), nullable=True),
        sa.Column("window_number", sa.BigInteger(), nullable=False, server_default="1"),
        sa.Column("window_id", sa.String(length=36), nullable=False, server_default=""),
        sa.Column("first_window_id", sa.String(length=36), nullable=False, server_default=""),
        sa.Column("previous_window_id", sa.String(length=36), nullable=True),
        sa.Column("forked_from", sa.LargeBinary(), nullable=True),
    ):
        op.add_column("sessions", column)
    _name_first_windows()


def _name_first_windows() -> None:
    """Give every session that is there a first window of its own."""
    names = ("id", "window_id", "first_window_id")
    sessions = sa.table("sessions", *map(sa.column, names))
    connection = op.get_bind()
    for session_id in connection.execute(sa.select(sessions.c.id)).scalars().all():
        window_id = str(uuid4())
        connection.execute(
            sa.update(sessions)
            .where(sessions.c.id == session_id)
            .values(window_id=window_id, first_window_id=window_id)
        )


def downgrade() -> None:
    """Go back to the schema before."""
    for name in (
        "forked_from",
        "previous_window_id",
        "first_window_id",
        "window_id",
        "window_number",
        "view_id",
        "pruned_through_sequence",
    ):
        op.drop_column("sessions", name)
    op.drop_column("prepared_calls", "recovery")
    op.drop_table("world_state_emissions")
    with op.batch_alter_table("turns", schema=None) as batch_op:
        batch_op.drop_index("ix_turns_incarnation_ordinal")

    op.drop_table("turns")
    with op.batch_alter_table("compactions", schema=None) as batch_op:
        batch_op.drop_index("ix_compactions_incarnation_ordinal")

    op.drop_table("compactions")
