"""provider context."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    # Of sessions that are there already no provider holds anything, which is what null says.
    op.add_column("sessions", sa.Column("provider_context", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_column("sessions", "provider_context")
