"""Tables of events, which are in one order over all sessions.

Source: docs/adr/0046-event-log.md.
"""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, String, Table

from app.store.tables import (
    ID_CHARS,
    INCARNATION_CHARS,
    SHA256_HEX_CHARS,
    UtcDateTime,
    metadata,
)

events = Table(
    "events",
    metadata,
    # In the order in which they became visible.
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column(
        "incarnation",
        String(INCARNATION_CHARS),
        ForeignKey("sessions.incarnation", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("session_id", String(ID_CHARS), nullable=False),
    Column("type", String(32), nullable=False),
    # Of a compaction that is needed, so that it is told of once.
    Column("plan_key", String(SHA256_HEX_CHARS)),
    Column("data", LargeBinary, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_events_incarnation_plan_key", "incarnation", "plan_key"),
)

event_log = Table(
    "event_log",
    metadata,
    # One row, which whoever adds an event holds until it commits.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("last_id", BigInteger, nullable=False),
    # The newest event that was given up for its age.
    Column("pruned_through", BigInteger, nullable=False),
)
