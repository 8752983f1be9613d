"""bytes of texts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Go to this schema."""
    # What is stored already is measured when it is read.
    op.add_column("messages", sa.Column("text_bytes", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Go back to the schema before."""
    op.drop_column("messages", "text_bytes")
