"""visibility changes."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "visibility_changes",
        sa.Column("incarnation", sa.String(length=32), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("agent_visible", sa.Boolean(), nullable=False),
        sa.Column("user_visible", sa.Boolean(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["incarnation"],
            ["sessions.incarnation"],
            name=op.f("fk_visibility_changes_incarnation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("incarnation", "ordinal", name=op.f("pk_visibility_changes")),
    )
    op.create_index(
        "ix_visibility_changes_sequence",
        "visibility_changes",
        ["incarnation", "sequence", "ordinal"],
        unique=False,
    )
    # Nothing was changed in sessions that are there already.
    op.add_column(
        "sessions",
        sa.Column("visibility_ordinal", sa.BigInteger(), server_default="0", nullable=False),
    )


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_column("sessions", "visibility_ordinal")
    op.drop_index("ix_visibility_changes_sequence", table_name="visibility_changes")
    op.drop_table("visibility_changes")
