"""Ids of compactions: new ones, and those that a repeated request finds again."""

from hashlib import sha256

from app.services.resources import Resources


def compaction_id(resources: Resources, incarnation: str, key: str | None) -> str:
    """A new id; with an idempotency key always the same, whatever becomes of the compaction."""
    name = resources.new_id() if key is None else _digest(incarnation, key)
    return f"compaction-{name}"


def _digest(incarnation: str, key: str) -> str:
    """32 hexadecimal digits, as many as new ids have."""
    return sha256(f"{incarnation}/{key}".encode()).hexdigest()[:32]
