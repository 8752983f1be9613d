"""run compactions."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    # What was pending before was claimed by workers, which have no need of the column.
    op.add_column("compactions", sa.Column("pending_runner", sa.String(length=16), nullable=True))
    op.create_index(
        "ix_compactions_pending_runner",
        "compactions",
        ["pending_runner", "claim_expires_at"],
        unique=False,
    )


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_index("ix_compactions_pending_runner", table_name="compactions")
    op.drop_column("compactions", "pending_runner")
