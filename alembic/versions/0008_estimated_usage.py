"""estimated usage."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    # Nothing that is in the ledger already was estimated.
    column: sa.Column[bool] = sa.Column(
        "is_estimated", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("usage_reports", column)


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_column("usage_reports", "is_estimated")
