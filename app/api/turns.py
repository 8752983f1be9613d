"""Turns of a session: begin, renew, end, list."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.api.dependencies import JsonBody, Service, SessionId
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.pages import PageQuery, decode_ordinal, encode_cursor
from app.api.responses import json_response
from app.api.turn_models import TurnIn, TurnOut, TurnPageOut, turn_answer
from app.api.validation import validated
from app.core.errors import (
    InvalidCursor,
    InvalidId,
    InvalidRequest,
    SessionNotFound,
    UnknownField,
)
from app.core.turns import TurnActive, TurnClosed
from app.services.turns import list_turns
from app.services.turns import put_turn as put_session_turn

router = APIRouter(prefix="/v1/sessions/{session_id}/turns", tags=["turns"])

_LIST = "turns"


@router.put(
    "/{turn_id}",
    response_model=TurnOut,
    responses=refuses_body(SessionNotFound, InvalidId, TurnActive, TurnClosed),
    openapi_extra=reads(TurnIn, {"status": "running", "owner": "worker-1"}),
)
async def put(service: Service, session_id: SessionId, turn_id: str, body: JsonBody) -> Response:
    """Begin, renew or end a turn; a turn that has ended stays as it ended."""
    given = validated(TurnIn, body.value)
    turn = await put_session_turn(service, session_id, turn_id, given.change())
    return json_response(turn_answer(turn))


@router.get(
    "",
    response_model=TurnPageOut,
    responses=refuses(SessionNotFound, InvalidCursor, InvalidRequest, UnknownField),
)
async def list_all(
    service: Service, session_id: SessionId, wanted: Annotated[PageQuery, Query()]
) -> Response:
    """List the turns of a session in the order in which they were first named."""
    after = None if wanted.cursor is None else decode_ordinal(_LIST, wanted.cursor)
    found = await list_turns(service, session_id, wanted.order, after, wanted.limit + 1)
    shown = found[: wanted.limit]
    more = len(found) > wanted.limit
    cursor = encode_cursor(_LIST, [shown[-1].ordinal]) if more else None
    return json_response({"items": [turn_answer(turn) for turn in shown], "next_cursor": cursor})
