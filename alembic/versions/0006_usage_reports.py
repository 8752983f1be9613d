"""usage reports."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_MEASURES: dict[str, sa.types.TypeEngine[Any]] = {
    "estimated_tokens": sa.BigInteger(),
    "calibrated_tokens": sa.BigInteger(),
    "expected_cached_tokens": sa.BigInteger(),
    "break_cause": sa.String(length=64),
    "size": sa.LargeBinary(),
}


def upgrade() -> None:
    """Go to this schema."""
    op.create_table(
        "usage_reports",
        sa.Column("incarnation", sa.String(length=32), nullable=False),
        sa.Column("ordinal", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("turn_id", sa.String(length=128), nullable=True),
        sa.Column("model_call", sa.BigInteger(), nullable=True),
        sa.Column("prepared_id", sa.String(length=64), nullable=True),
        sa.Column("model", sa.LargeBinary(), nullable=False),
        sa.Column("requested_model", sa.LargeBinary(), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cached_input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("reasoning_output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("total_tokens", sa.BigInteger(), nullable=True),
        sa.Column("estimated_tokens", sa.BigInteger(), nullable=True),
        sa.Column("calibrated_tokens", sa.BigInteger(), nullable=True),
        sa.Column("expected_cached_tokens", sa.BigInteger(), nullable=True),
        sa.Column("break_cause", sa.String(length=64), nullable=True),
        sa.Column("window_number", sa.BigInteger(), nullable=False),
        sa.Column("is_late", sa.Boolean(), nullable=False),
        sa.Column("event", sa.String(length=16), nullable=True),
        sa.Column("cause", sa.LargeBinary(), nullable=True),
        sa.Column("identity", sa.LargeBinary(length=32), nullable=True),
        sa.Column("report", sa.LargeBinary(), nullable=True),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["incarnation"],
            ["sessions.incarnation"],
            name=op.f("fk_usage_reports_incarnation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("incarnation", "ordinal", name=op.f("pk_usage_reports")),
        sa.UniqueConstraint(
            "incarnation", "identity", name=op.f("uq_usage_reports_incarnation_identity")
        ),
    )
    # Of calls that were prepared before, nothing of this is known, which is what null says.
    for name, kind in _MEASURES.items():
        op.add_column("prepared_calls", sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    """Go back to the schema before."""
    for name in reversed(_MEASURES):
        op.drop_column("prepared_calls", name)
    op.drop_table("usage_reports")
