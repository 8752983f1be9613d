"""decisions of turns."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    # Of a turn that runs now nobody noted whether it has decided, so its next call decides.
    op.add_column("turns", sa.Column("decided_call", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_column("turns", "decided_call")
