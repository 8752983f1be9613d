"""Messages of a session: append, list, read, show and hide."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.api.answers import Answer
from app.api.append_models import AnswerIn, AppendIn, AppendOut
from app.api.body import Body
from app.api.dependencies import JsonBody, Service, SessionId
from app.api.encoding_models import encoding_repair_answer
from app.api.message_models import (
    MAX_BATCH,
    MessageOut,
    MessagePageOut,
    message_bytes,
)
from app.api.message_query import MessageQuery
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.pages import decode_ordinal, encode_cursor
from app.api.repairs import body_repairs, hidden_results, refuse_large_batch
from app.api.responses import JSON, json_response, spliced
from app.api.usage_models import REPORT_REFUSALS, standing_answer
from app.api.validation import validated
from app.api.visibility_models import SeenMessageOut, VisibilityIn
from app.compaction.refusals import HistoryReplaced
from app.core import canonical, errors
from app.core.errors import InvalidCursor, InvalidRequest, UnknownField
from app.encoders.decoding import InvalidAnswer
from app.services.append import Appended, Expected, append_messages
from app.services.messages import get_message, list_messages
from app.services.provider_answers import append_answer
from app.services.resources import Resources
from app.services.usage_reports import append_with_usage
from app.services.visibility import change_visibility

router = APIRouter(prefix="/v1/sessions/{session_id}/messages", tags=["messages"])

APPEND_REFUSALS = (
    errors.SessionNotFound,
    errors.TooManyMessages,
    errors.MessageTooLarge,
    errors.InvalidId,
    errors.ReservedId,
    errors.UnexpectedKind,
    errors.SystemMessageInConversation,
    errors.EmptyMessage,
    errors.InvalidToolMessage,
    errors.UnexpectedRole,
    errors.MessageConflict,
    errors.ConversationMoved,
    errors.DuplicateToolCall,
    errors.UnmatchedToolResult,
    errors.ItemOverLimit,
    errors.UnsupportedUserData,
    HistoryReplaced,
)

_LIST = "messages"
_EXAMPLE: dict[str, object] = {
    "messages": [{"id": "m-1", "turn_id": "t-1", "role": "user", "content": "Fix the build."}],
    "expected_message_count": 0,
}


@router.post(
    "",
    status_code=HTTPStatus.CREATED,
    response_model=AppendOut,
    responses={HTTPStatus.OK: {"model": AppendOut, "description": "All of it was stored already"}}
    | refuses_body(*APPEND_REFUSALS, *REPORT_REFUSALS, InvalidAnswer),
    openapi_extra=reads(AppendIn, _EXAMPLE, AnswerIn),
)
async def append(service: Service, session_id: SessionId, body: JsonBody) -> Response:
    """Append messages in order, all or none; what is stored already changes nothing.

    `usage` reports what the call took that the messages answer, in the same transaction. With
    `response` a provider's answer is decoded, stored and reported.
    """
    if isinstance(body.value, dict) and "response" in body.value:
        return await _append_answer(service, session_id, body)
    refuse_large_batch(body.value, "messages", MAX_BATCH)
    given = validated(AppendIn, body.value)
    incoming = [message.message() for message in given.messages]
    expected = Expected(
        message_count=given.expected_message_count, base_compaction_id=given.base_compaction_id
    )
    reported: Answer = {}
    if given.usage is None:
        appended = await append_messages(service, session_id, incoming, expected)
    else:
        report = given.usage.report()
        appended, sample = await append_with_usage(service, session_id, incoming, expected, report)
        reported = {"usage": standing_answer(sample)}
    return _appended(appended, body, [], reported)


async def _append_answer(service: Resources, session_id: str, body: Body) -> Response:
    given = validated(AnswerIn, body.value)
    expected = Expected(
        message_count=given.expected_message_count, base_compaction_id=given.base_compaction_id
    )
    taken = await append_answer(service, session_id, given.answer(), expected)
    repairs = list(map(encoding_repair_answer, taken.decoded.repairs))
    return _appended(taken.appended, body, repairs, {"usage": standing_answer(taken.sample)})


def _appended(
    appended: Appended, body: Body, repairs: Sequence[Answer], reported: Answer
) -> Response:
    ids = [message_id for message_id, _ in appended.placed]
    answer = {
        "messages": [{"id": id_, "sequence": sequence} for id_, sequence in appended.placed],
        "message_count": appended.session.message_count,
        "repairs": [*body_repairs(body, ids), *repairs, *hidden_results(appended.hidden)],
        **reported,
    }
    return json_response(answer, HTTPStatus.CREATED if appended.arrived else HTTPStatus.OK)


@router.get(
    "",
    response_model=MessagePageOut,
    responses=refuses(errors.SessionNotFound, InvalidCursor, InvalidRequest, UnknownField),
)
async def list_all(
    service: Service, session_id: SessionId, wanted: Annotated[MessageQuery, Query()]
) -> Response:
    """List messages in order, exactly as they were appended, with who sees them now."""
    after = None if wanted.cursor is None else decode_ordinal(_LIST, wanted.cursor)
    found, coverage = await list_messages(
        service, session_id, wanted.filter(), wanted.order, after, wanted.limit + 1
    )
    shown = found[: wanted.limit]
    more = len(found) > wanted.limit
    cursor = encode_cursor(_LIST, [shown[-1].sequence]) if more else None
    items = b",".join(message_bytes(session_id, stored, coverage) for stored in shown)
    before = canonical.encode({"next_cursor": cursor})
    return Response(spliced(before, "items", [b"[", items, b"]"]), media_type=JSON)


@router.post(
    "/{message_id:path}/visibility",
    response_model=SeenMessageOut,
    responses=refuses_body(errors.SessionNotFound, errors.MessageNotFound),
    openapi_extra=reads(VisibilityIn, {"agent_visible": False}),
)
async def show(
    service: Service, session_id: SessionId, message_id: str, body: JsonBody
) -> Response:
    """Show a message to the model or to people from now on, or hide it; nothing is edited."""
    given = validated(VisibilityIn, body.value)
    changed = await change_visibility(service, session_id, message_id, given.change())
    seen = message_bytes(session_id, changed.message, changed.coverage)
    return Response(
        spliced(seen, "version", [canonical.encode(changed.session.version)]), media_type=JSON
    )


@router.get(
    "/{message_id:path}",
    response_model=MessageOut,
    responses=refuses(errors.SessionNotFound, errors.MessageNotFound),
)
async def read(service: Service, session_id: SessionId, message_id: str) -> Response:
    """The original of a message, however requests show it."""
    stored, coverage = await get_message(service, session_id, message_id)
    return Response(message_bytes(session_id, stored, coverage), media_type=JSON)
