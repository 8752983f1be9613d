"""Read back: what a compaction covers, and what a session shows or showed."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api.dependencies import Service, SessionId
from app.api.message_models import MessageOut, message_bytes
from app.api.openapi_docs import refuses
from app.api.responses import JSON, spliced
from app.compaction import refusals
from app.compaction.errors import CompactionNotFound
from app.core import canonical
from app.core.errors import InvalidRequest, SessionNotFound, UnknownField
from app.core.messages import Real
from app.services.replay import (
    ReplayedMessage,
    ReplayReader,
    Selector,
    read_history,
    replay_session,
)

router = APIRouter(prefix="/v1/sessions/{session_id}", tags=["history"])

LARGEST_PAGE = 50
_LIMIT = 20


class HistoryQuery(BaseModel):
    """Which page of a checkpoint's messages to read."""

    model_config = ConfigDict(extra="forbid")

    compaction_id: str | None = None
    after_sequence: int = 0
    limit: int = _LIMIT


class HistoryOut(BaseModel):
    """A page of the messages that a checkpoint covers."""

    session_id: str
    compaction_id: str
    through_message_sequence: int
    messages: list[MessageOut]
    next_after_sequence: int | None
    has_more: bool


class ReplayQuery(BaseModel):
    """What to replay."""

    model_config = ConfigDict(extra="forbid")

    selector: Annotated[
        str, Field(pattern=r"^(latest|compaction:[A-Za-z0-9._~:-]{1,128}|through:[0-9]{1,18})$")
    ] = "latest"
    view: ReplayReader = Field(
        default="agent", description="What the model sees, or what people see of the session."
    )


class ReplayedMessageOut(BaseModel):
    """A message as its reader sees it; those of a checkpoint have ids of their own."""

    id: str
    turn_id: str | None
    sequence: int
    role: str
    content: list[dict[str, Any]]
    message_kind: str
    created_at: str | None
    agent_visible: bool
    user_visible: bool


class ReplayOut(BaseModel):
    """What a model or people saw, or would see."""

    selector: str
    view: ReplayReader
    checkpoint_id: str | None
    through_message_sequence: int
    messages: list[ReplayedMessageOut]


@router.get(
    "/history",
    response_model=HistoryOut,
    responses=refuses(
        SessionNotFound,
        CompactionNotFound,
        refusals.NoCompaction,
        refusals.InvalidPage,
        InvalidRequest,
        UnknownField,
    ),
)
async def history(
    service: Service, session_id: SessionId, wanted: Annotated[HistoryQuery, Query()]
) -> Response:
    """A page of the exact messages that a compaction covers, whole messages only."""
    _refuse_bad_page(wanted)
    page = await read_history(
        service, session_id, wanted.compaction_id, wanted.after_sequence, wanted.limit
    )
    before = canonical.encode(
        {
            "session_id": session_id,
            "compaction_id": page.compaction_id,
            "through_message_sequence": page.through_sequence,
            "next_after_sequence": page.messages[-1].sequence if page.has_more else None,
            "has_more": page.has_more,
        }
    )
    shown = b",".join(message_bytes(session_id, stored, page.coverage) for stored in page.messages)
    return Response(spliced(before, "messages", [b"[", shown, b"]"]), media_type=JSON)


@router.get(
    "/replay",
    response_model=ReplayOut,
    responses=refuses(
        SessionNotFound,
        CompactionNotFound,
        refusals.NoCompaction,
        refusals.InvalidBoundary,
        InvalidRequest,
        UnknownField,
    ),
)
async def replay(
    service: Service, session_id: SessionId, wanted: Annotated[ReplayQuery, Query()]
) -> Response:
    """The conversation as a selector shows it, to the model or to people; nothing is run again."""
    replayed = await replay_session(service, session_id, _selector(wanted.selector), wanted.view)
    before = canonical.encode(
        {
            "selector": wanted.selector,
            "view": wanted.view,
            "checkpoint_id": replayed.checkpoint_id,
            "through_message_sequence": replayed.through_sequence,
        }
    )
    shown = b",".join(map(_replayed, replayed.messages))
    return Response(spliced(before, "messages", [b"[", shown, b"]"]), media_type=JSON)


def _refuse_bad_page(wanted: HistoryQuery) -> None:
    if wanted.after_sequence < 0:
        raise refusals.InvalidPage("after_sequence must be non-negative", key="after_sequence")
    if wanted.after_sequence >= 2**63:
        raise refusals.InvalidPage("after_sequence must be below 2^63", key="after_sequence")
    if not 1 <= wanted.limit <= LARGEST_PAGE:
        raise refusals.InvalidPage(f"limit must be between 1 and {LARGEST_PAGE}", key="limit")


def _selector(text: str) -> Selector:
    match re.split(":", text, maxsplit=1):
        case ["compaction", compaction_id]:
            return Selector(compaction_id=compaction_id, through_sequence=None)
        case ["through", sequence]:
            return Selector(compaction_id=None, through_sequence=int(sequence))
    return Selector(compaction_id=None, through_sequence=None)


def _replayed(message: ReplayedMessage) -> bytes:
    item = message.item
    source = item.source
    before = canonical.encode(
        {
            "id": source.id,
            "turn_id": message.turn_id,
            "sequence": source.sequence if isinstance(source, Real) else item.depends_on,
            "role": item.role,
            "message_kind": item.kind,
            "agent_visible": message.visibility.agent,
            "user_visible": message.visibility.user,
            "created_at": None if message.created_at is None else message.created_at.isoformat(),
        }
    )
    return spliced(before, "content", [item.content])
