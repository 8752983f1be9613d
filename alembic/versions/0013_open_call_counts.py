"""open call counts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    op.add_column(
        "open_calls", sa.Column("count", sa.Integer(), server_default="1", nullable=False)
    )


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_column("open_calls", "count")
