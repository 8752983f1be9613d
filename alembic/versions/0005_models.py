"""models."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "operator_models",
        sa.Column("name", sa.LargeBinary(), nullable=False),
        sa.Column("profile", sa.LargeBinary(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_operator_models")),
    )
    op.create_table(
        "learned_limits",
        sa.Column("model", sa.LargeBinary(), nullable=False),
        sa.Column("limit_tokens", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reports", sa.BigInteger(), nullable=False),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("incarnation", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["incarnation"],
            ["sessions.incarnation"],
            name=op.f("fk_learned_limits_incarnation"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("model", "limit_tokens", name=op.f("pk_learned_limits")),
    )
    op.create_index(
        op.f("ix_learned_limits_incarnation"), "learned_limits", ["incarnation"], unique=False
    )
    op.add_column(
        "prepared_calls", sa.Column("observed_limit_tokens", sa.BigInteger(), nullable=True)
    )


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_column("prepared_calls", "observed_limit_tokens")
    op.drop_index(op.f("ix_learned_limits_incarnation"), table_name="learned_limits")
    op.drop_table("learned_limits")
    op.drop_table("operator_models")
