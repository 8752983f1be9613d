"""Ids of compactions: new ones, and those that a repeated request finds again."""

from hashlib import sha256
from typing import Literal, TypeAlias

from app.services.resources import Resources

Call: TypeAlias = Literal["compact", "rewind", "provider", "tool_pairs"]
"""What makes a compaction. Equal idempotency keys of two calls are two compactions."""


def compaction_id(resources: Resources, incarnation: str, call: Call, key: str | None) -> str:
    """A new id; with an idempotency key always the same, whatever becomes of the compaction."""
    name = resources.new_id() if key is None else _digest(incarnation, call, key)
    return f"compaction-{name}"


def _digest(incarnation: str, call: Call, key: str) -> str:
    """32 hexadecimal digits, as many as new ids have."""
    return sha256(f"{incarnation}/{call}/{key}".encode()).hexdigest()[:32]
