"""usage state."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    # Of sessions that are there already nothing was reported, which is what null says.
    op.add_column("sessions", sa.Column("usage", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_column("sessions", "usage")
