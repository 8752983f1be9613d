"""Usage of a session: report what a call took, and read the series."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.api.dependencies import JsonBody, Service, SessionId
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.pages import PageQuery, decode_ordinal, encode_cursor
from app.api.repairs import body_repairs
from app.api.responses import json_response
from app.api.usage_models import (
    REPORT_REFUSALS,
    UsageIn,
    UsageOut,
    UsagePageOut,
    entry_answer,
    standing_answer,
)
from app.api.validation import validated
from app.core import errors
from app.core.errors import InvalidCursor, InvalidRequest, UnknownField
from app.services.usage_reports import list_usage, report_usage

router = APIRouter(prefix="/v1/sessions/{session_id}/usage", tags=["usage"])

_LIST = "usage"
_EXAMPLE: dict[str, object] = {
    "turn_id": "t-1",
    "model_call": 1,
    "model": "model-a",
    "raw": {
        "format": "openai.chat",
        "usage": {"prompt_tokens": 1200, "completion_tokens": 80, "total_tokens": 1280},
    },
    "needs_follow_up": True,
}


@router.post(
    "",
    response_model=UsageOut,
    responses=refuses_body(
        errors.SessionNotFound,
        errors.InvalidId,
        errors.SystemMessageInConversation,
        errors.ItemOverLimit,
        errors.UnsupportedUserData,
        *REPORT_REFUSALS,
    ),
    openapi_extra=reads(UsageIn, _EXAMPLE),
)
async def report(service: Service, session_id: SessionId, body: JsonBody) -> Response:
    """Report what a provider said that a call took; an equal repeat counts once."""
    given = validated(UsageIn, body.value)
    answer = await report_usage(service, session_id, given.report())
    return json_response({**standing_answer(answer), "repairs": body_repairs(body, [])})


@router.get(
    "",
    response_model=UsagePageOut,
    responses=refuses(errors.SessionNotFound, InvalidCursor, InvalidRequest, UnknownField),
)
async def list_all(
    service: Service, session_id: SessionId, wanted: Annotated[PageQuery, Query()]
) -> Response:
    """List the reports of a session and the events between them, in the order of arrival."""
    after = None if wanted.cursor is None else decode_ordinal(_LIST, wanted.cursor)
    found = await list_usage(service, session_id, wanted.order, after, wanted.limit + 1)
    shown = found[: wanted.limit]
    more = len(found) > wanted.limit
    cursor = encode_cursor(_LIST, [shown[-1].ordinal]) if more else None
    return json_response({"items": [entry_answer(entry) for entry in shown], "next_cursor": cursor})
