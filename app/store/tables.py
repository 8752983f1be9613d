"""Tables. Messages are appended and never rewritten.

Primary keys lead with the session's incarnation, so that every child table
can be partitioned or distributed by session. Text that a caller chose is
kept as bytes, since PostgreSQL's text refuses NUL.

Source: docs/adr/0010-store.md.
"""

from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlalchemy.engine import Dialect

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC on both databases; SQLite itself keeps no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment as the database takes it."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment as the database gave it, in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


ID_CHARS = 128
MESSAGE_ID_CHARS = 512
"""Ids made here join several others, so they may be longer than those of callers."""

INCARNATION_CHARS = 32
SHA256_HEX_CHARS = 64
UUID_CHARS = 36


def _incarnation() -> Column[str]:
    return Column(
        "incarnation",
        String(INCARNATION_CHARS),
        ForeignKey("sessions.incarnation", ondelete="CASCADE"),
        primary_key=True,
    )


agents = Table(
    "agents",
    metadata,
    Column("ref", String(SHA256_HEX_CHARS), primary_key=True),
    Column("definition", LargeBinary, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("incarnation", String(INCARNATION_CHARS), nullable=False, unique=True),
    Column("model", String(256), nullable=False),
    Column("model_profile", LargeBinary),
    Column("preset", String(32), nullable=False),
    Column("policy", LargeBinary, nullable=False),
    Column("agent_ref", ForeignKey("agents.ref"), nullable=False, index=True),
    Column("generation", LargeBinary, nullable=False),
    Column("parent_session_id", String(ID_CHARS), index=True),
    Column("sandbox_available", Boolean, nullable=False),
    Column("spill_directory", LargeBinary),
    Column("metadata", LargeBinary, nullable=False),
    Column("original", LargeBinary, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("message_count", BigInteger, nullable=False),
    Column("cumulative_json_bytes", BigInteger, nullable=False),
    Column("current_turn_id", String(ID_CHARS)),
    Column("pruned_through_sequence", BigInteger),
    # The compaction whose view is shown; none before the first.
    Column("view_id", String(ID_CHARS)),
    # Of the last change of what models see; 0 before the first.
    Column("visibility_ordinal", BigInteger, nullable=False, server_default="0"),
    Column("window_number", BigInteger, nullable=False),
    Column("window_id", String(UUID_CHARS), nullable=False),
    Column("first_window_id", String(UUID_CHARS), nullable=False),
    Column("previous_window_id", String(UUID_CHARS)),
    Column("forked_from", LargeBinary),
    # Of the last prepared call, so that a list of sessions reads no message.
    Column("state", String(16), nullable=False),
    Column("used_percent", Float),
    # What providers reported; none before the first report.
    Column("usage", LargeBinary),
    # What a provider that owns its context holds; none where everything is sent.
    Column("provider_context", LargeBinary),
    Index("ix_sessions_created_at_id", "created_at", "id"),
)

messages = Table(
    "messages",
    metadata,
    _incarnation(),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("id", String(MESSAGE_ID_CHARS), nullable=False),
    Column("turn_id", String(ID_CHARS)),
    Column("role", String(16), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("agent_visible", Boolean, nullable=False),
    Column("user_visible", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("content_bytes", BigInteger, nullable=False),
    Column("json_bytes", BigInteger, nullable=False),
    Column("cumulative_json_bytes", BigInteger, nullable=False),
    Column("tokenizer_tokens", BigInteger, nullable=False),
    Column("token_basis", String(128), nullable=False),
    Column("has_data", Boolean, nullable=False),
    Column("element_sha256", LargeBinary(32), nullable=False),
    Column("pairing", LargeBinary),
    # Of the message's own texts; null in messages that were stored before it was kept.
    Column("text_bytes", BigInteger),
    UniqueConstraint("incarnation", "id"),
)
_is_world_state = messages.c.kind == "world_state"
Index(
    "ix_messages_world_state",
    messages.c.incarnation,
    messages.c.sequence,
    postgresql_where=_is_world_state,
    sqlite_where=_is_world_state,
)

visibility_changes = Table(
    "visibility_changes",
    metadata,
    _incarnation(),
    Column("ordinal", BigInteger, primary_key=True, autoincrement=False),
    Column("sequence", BigInteger, nullable=False),
    # Both flags as they are from then on, so that the newest row of a message says all.
    Column("agent_visible", Boolean, nullable=False),
    Column("user_visible", Boolean, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("ix_visibility_changes_sequence", "incarnation", "sequence", "ordinal"),
)

open_calls = Table(
    "open_calls",
    metadata,
    _incarnation(),
    # A call id may be longer than an index entry, so its hash is the key.
    Column("call_sha256", LargeBinary(32), primary_key=True),
    Column("call_id", LargeBinary, nullable=False),
    Column("name", LargeBinary, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    # More than one only where a session takes an id twice.
    Column("count", Integer, nullable=False, server_default="1"),
)

world_state_sections = Table(
    "world_state_sections",
    metadata,
    _incarnation(),
    Column("section_id", String(ID_CHARS), primary_key=True),
    Column("baseline_state", String(16), nullable=False),
    Column("baseline_text", LargeBinary),
    Column("message_id", String(MESSAGE_ID_CHARS)),
    Column("last_state", String(16), nullable=False),
    Column("last_text", LargeBinary),
    Column("position", Integer, nullable=False),
)

world_state_emissions = Table(
    "world_state_emissions",
    metadata,
    _incarnation(),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("section_id", String(ID_CHARS), nullable=False),
    Column("state", String(16), nullable=False),
    # Of the notice in front of the section's own text.
    Column("notice_chars", BigInteger, nullable=False),
)

world_state_samples = Table(
    "world_state_samples",
    metadata,
    _incarnation(),
    Column("turn_id", String(ID_CHARS), primary_key=True),
    Column("model_call", BigInteger, primary_key=True, autoincrement=False),
    Column("sample", BigInteger, primary_key=True, autoincrement=False),
    Column("answer", LargeBinary, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

prepared_calls = Table(
    "prepared_calls",
    metadata,
    _incarnation(),
    Column("id", String(64), primary_key=True),
    Column("ordinal", BigInteger, nullable=False),
    Column("format", String(32), nullable=False),
    Column("model", String(256), nullable=False),
    Column("recipe", LargeBinary, nullable=False),
    Column("agent_ref", ForeignKey("agents.ref"), nullable=False, index=True),
    Column("through_sequence", BigInteger, nullable=False),
    Column("message_count", BigInteger, nullable=False),
    Column("message_bytes", BigInteger, nullable=False),
    Column("chain", LargeBinary(32), nullable=False),
    Column("segments", LargeBinary, nullable=False),
    Column("recovery", LargeBinary),
    # What the provider that refused the call said its limit is.
    Column("observed_limit_tokens", BigInteger),
    # What was thought of the call; unknown of calls that were prepared before it was kept.
    Column("estimated_tokens", BigInteger),
    Column("calibrated_tokens", BigInteger),
    Column("expected_cached_tokens", BigInteger),
    Column("break_cause", String(64)),
    Column("size", LargeBinary),
    Column("created_at", UtcDateTime, nullable=False),
    Index("ix_prepared_calls_incarnation_ordinal", "incarnation", "ordinal"),
)

usage_reports = Table(
    "usage_reports",
    metadata,
    _incarnation(),
    Column("ordinal", BigInteger, primary_key=True, autoincrement=False),
    Column("at", UtcDateTime, nullable=False),
    Column("turn_id", String(ID_CHARS)),
    Column("model_call", BigInteger),
    Column("prepared_id", String(64)),
    Column("model", LargeBinary, nullable=False),
    Column("requested_model", LargeBinary),
    Column("input_tokens", BigInteger),
    Column("cached_input_tokens", BigInteger),
    Column("cache_write_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("reasoning_output_tokens", BigInteger),
    Column("total_tokens", BigInteger),
    Column("estimated_tokens", BigInteger),
    Column("calibrated_tokens", BigInteger),
    Column("expected_cached_tokens", BigInteger),
    Column("break_cause", String(64)),
    Column("window_number", BigInteger, nullable=False),
    Column("is_late", Boolean, nullable=False),
    Column("is_estimated", Boolean, nullable=False, server_default=false()),
    Column("event", String(16)),
    Column("cause", LargeBinary),
    # Hash of what the entry is about, so that a repeat is found; an event of a window has none.
    Column("identity", LargeBinary(32)),
    Column("report", LargeBinary),
    Column("answer", LargeBinary),
    UniqueConstraint("incarnation", "identity"),
)

turns = Table(
    "turns",
    metadata,
    _incarnation(),
    Column("id", String(ID_CHARS), primary_key=True),
    Column("ordinal", BigInteger, nullable=False),
    Column("status", String(16), nullable=False),
    Column("owner", LargeBinary),
    Column("lease_seconds", BigInteger, nullable=False),
    Column("lease_expires_at", UtcDateTime),
    Column("plan", LargeBinary),
    Column("model_call", BigInteger),
    Column("sample", BigInteger),
    Column("decided_call", BigInteger),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index("ix_turns_incarnation_ordinal", "incarnation", "ordinal"),
)

compactions = Table(
    "compactions",
    metadata,
    _incarnation(),
    Column("id", String(ID_CHARS), primary_key=True),
    Column("ordinal", BigInteger, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("status", String(16), nullable=False),
    Column("turn_id", String(ID_CHARS)),
    Column("model_call", BigInteger),
    Column("plan_key", String(SHA256_HEX_CHARS)),
    Column("checkpoint_sequence", BigInteger),
    Column("replaced_through_sequence", BigInteger),
    Column("record", LargeBinary, nullable=False),
    Column("claim_expires_at", UtcDateTime),
    Column("completed_at", UtcDateTime),
    Column("pending_runner", String(16)),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index("ix_compactions_incarnation_ordinal", "incarnation", "ordinal"),
    Index("ix_compactions_pending_runner", "pending_runner", "claim_expires_at"),
)

operator_models = Table(
    "operator_models",
    metadata,
    Column("name", LargeBinary, primary_key=True),
    Column("profile", LargeBinary, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
)

learned_limits = Table(
    "learned_limits",
    metadata,
    Column("model", LargeBinary, primary_key=True),
    Column("limit_tokens", BigInteger, primary_key=True, autoincrement=False),
    Column("reports", BigInteger, nullable=False),
    Column("observed_at", UtcDateTime, nullable=False),
    # The session of the last report. What it taught of the model outlives it.
    Column(
        "incarnation",
        String(INCARNATION_CHARS),
        ForeignKey("sessions.incarnation", ondelete="SET NULL"),
        index=True,
    ),
)
