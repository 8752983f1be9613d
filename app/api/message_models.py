"""Messages on the wire."""

from typing import Any

from pydantic import BaseModel

from app.api.answers import Answer
from app.compaction.view import Coverage
from app.core import canonical
from app.core.messages import Kind, Role
from app.core.stored import StoredMessage

MAX_BATCH = 1_000


class PlacedOut(BaseModel):
    """Where a message of a batch stands."""

    id: str
    sequence: int


class RepairOut(BaseModel):
    """Something that was mended, in a body or in the request copy."""

    code: str
    path: str | None = None
    item_index: int | None = None
    message_index: int | None = None
    message_id: str | None = None
    call_id: str | None = None
    detail: str | None = None


class MessageOut(BaseModel):
    """A stored message, exactly as it was appended, with who sees it now."""

    id: str
    sequence: int
    session_id: str
    turn_id: str | None
    role: Role
    kind: Kind
    content: list[dict[str, Any]]
    agent_visible: bool
    user_visible: bool
    created_at: str
    covered_by: str | None


class MessagePageOut(BaseModel):
    """A page of messages."""

    items: list[MessageOut]
    next_cursor: str | None


def message_answer(session_id: str, stored: StoredMessage, coverage: Coverage) -> Answer:
    """A message without its content, which is spliced in as stored bytes."""
    message = stored.message
    return {
        "id": message.id,
        "sequence": stored.sequence,
        "session_id": session_id,
        "turn_id": message.turn_id,
        "role": message.role,
        "kind": message.kind,
        "agent_visible": stored.visibility.agent,
        "user_visible": stored.visibility.user,
        "created_at": message.created_at.isoformat(),
        "covered_by": coverage.of(stored.sequence),
    }


def message_bytes(session_id: str, stored: StoredMessage, coverage: Coverage) -> bytes:
    """A message as JSON bytes."""
    before = canonical.encode(message_answer(session_id, stored, coverage))
    return b"".join([before[:-1], b',"content":', stored.message.content, b"}"])
