"""Sessions: create, read, change, list, erase."""

from datetime import datetime, timedelta
from http import HTTPStatus
from math import isfinite
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from app.api.answers import Answer
from app.api.body import Body
from app.api.dependencies import JsonBody, Service, SessionId
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.pages import decode_cursor, encode_cursor
from app.api.repairs import body_repairs
from app.api.responses import JSON, json_response
from app.api.session_models import (
    IMMUTABLE_FIELDS,
    ChangedSessionOut,
    ForkIn,
    SessionIn,
    SessionOut,
    SessionPageOut,
    SessionPatch,
    SessionQuery,
    ToolOut,
    resume_answer,
    session_answer,
)
from app.api.validation import validated
from app.compaction.refusals import InvalidBoundary
from app.core import errors
from app.core.errors import ImmutableField, InvalidCursor, InvalidRequest, UnknownField
from app.core.ids import is_key
from app.core.stored import Session
from app.policies.codex_window import InvalidWindow
from app.policies.overrides import UnknownPolicyOverride
from app.policies.presets import UnknownPolicy
from app.services.fork import fork_session
from app.services.models import limits_learned
from app.services.resources import Resources
from app.services.resume import resume_session
from app.services.sessions import (
    Precondition,
    change_session,
    create_session,
    delete_session,
    etag_of,
    get_tool,
    list_sessions,
    names_etag,
)
from app.store.session_pages import Position, Sort, position_of

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])

_LIST = "sessions"

_EXAMPLE: dict[str, object] = {
    "id": "s-1",
    "model": "model-a",
    "model_profile": {
        "name": "model-a",
        "context_window": 200_000,
        "max_output_tokens": 32_000,
    },
    "agent": {
        "system_prompt": "You fix bugs.",
        "tools": [{"name": "read", "description": "Read a file", "parameters": {"type": "object"}}],
    },
}


@router.post(
    "",
    status_code=HTTPStatus.CREATED,
    response_model=ChangedSessionOut,
    responses={HTTPStatus.OK: {"model": ChangedSessionOut, "description": "It was there already"}}
    | refuses_body(
        errors.InvalidId,
        errors.SessionConflict,
        errors.InvalidModelProfile,
        UnknownPolicy,
        UnknownPolicyOverride,
        InvalidWindow,
        errors.ToolNameCollision,
        errors.EmptySystemContextKey,
        errors.EmptySystemContext,
        errors.DuplicateSystemContext,
        errors.ItemOverLimit,
    ),
    openapi_extra=reads(SessionIn, _EXAMPLE),
)
async def create(service: Service, body: JsonBody) -> Response:
    """Create a session; the same id and body again answer 200 with what is there."""
    given = validated(SessionIn, body.value)
    session, created = await create_session(service, given.id, given.new_session())
    status = HTTPStatus.CREATED if created else HTTPStatus.OK
    return json_response(await _changed(service, session, body), status, {"ETag": etag_of(session)})


@router.get(
    "",
    response_model=SessionPageOut,
    responses=refuses(InvalidCursor, InvalidRequest, UnknownField),
)
async def list_all(
    service: Service,
    wanted: Annotated[SessionQuery, Query()],
) -> Response:
    """List sessions, the newest first unless asked otherwise."""
    after = None if wanted.cursor is None else _position(wanted.sort, wanted.cursor)
    found = await list_sessions(
        service, wanted.filter(), wanted.sort, wanted.order, after, wanted.limit + 1
    )
    shown = found[: wanted.limit]
    cursor = _cursor(wanted.sort, shown[-1]) if len(found) > wanted.limit else None
    learned = await limits_learned(service, {session.model for session in shown})
    items = [session_answer(session, learned.get(session.model)) for session in shown]
    return json_response({"items": items, "next_cursor": cursor})


@router.get(
    "/{session_id}",
    response_model=SessionOut,
    responses={HTTPStatus.NOT_MODIFIED: {"description": "Nothing has changed"}}
    | refuses(errors.SessionNotFound),
)
async def read(
    service: Service,
    session_id: SessionId,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Read a session."""
    session, resume = await resume_session(service, session_id)
    headers = {"ETag": etag_of(session)}
    # This header compares weakly (RFC 9110), and no tag of ours holds these characters.
    if if_none_match is not None and names_etag(if_none_match.replace("W/", ""), session):
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    answer = {**session_answer(session, resume.learned), "resume": resume_answer(resume)}
    return json_response(answer, headers=headers)


@router.patch(
    "/{session_id}",
    response_model=ChangedSessionOut,
    responses=refuses_body(
        errors.SessionNotFound,
        errors.VersionConflict,
        errors.PreconditionFailed,
        errors.ImmutableField,
        InvalidBoundary,
        errors.InvalidModelProfile,
        UnknownPolicy,
        UnknownPolicyOverride,
        InvalidWindow,
        errors.ToolNameCollision,
        errors.EmptySystemContextKey,
        errors.EmptySystemContext,
        errors.DuplicateSystemContext,
        errors.ItemOverLimit,
    ),
    openapi_extra=reads(SessionPatch, {"metadata": {"ticket": "T-1"}, "expected_version": 0}),
)
async def change(
    service: Service,
    session_id: SessionId,
    body: JsonBody,
    if_match: Annotated[str | None, Header()] = None,
) -> Response:
    """Change a session. Metadata is merged by RFC 7396, other fields are replaced whole."""
    _refuse_immutable(body.value)
    patch = validated(SessionPatch, body.value)
    precondition = Precondition(expected_version=patch.expected_version, etag=if_match)
    session = await change_session(service, session_id, patch.change(), precondition)
    return json_response(await _changed(service, session, body), headers={"ETag": etag_of(session)})


@router.post(
    "/{session_id}/fork",
    status_code=HTTPStatus.CREATED,
    response_model=SessionOut,
    responses={HTTPStatus.OK: {"model": SessionOut, "description": "It was there already"}}
    | refuses_body(
        errors.SessionNotFound, errors.InvalidId, errors.SessionConflict, InvalidBoundary
    ),
    openapi_extra=reads(ForkIn, {"id": "s-2", "through_sequence": 2}),
)
async def fork(service: Service, session_id: SessionId, body: JsonBody) -> Response:
    """Make a session of its own from this one's history, cut where no tool round is open."""
    given = validated(ForkIn, body.value)
    session, created = await fork_session(service, session_id, given.id, given.through_sequence)
    status = HTTPStatus.CREATED if created else HTTPStatus.OK
    learned = await limits_learned(service, {session.model})
    answer = session_answer(session, learned.get(session.model))
    return json_response(answer, status, {"ETag": etag_of(session)})


@router.delete(
    "/{session_id}", status_code=HTTPStatus.NO_CONTENT, responses=refuses(errors.SessionNotFound)
)
async def delete(service: Service, session_id: SessionId) -> Response:
    """Erase a session with everything that is stored of it."""
    await delete_session(service, session_id)
    return Response(None, HTTPStatus.NO_CONTENT)


@router.get(
    "/{session_id}/tools/{name:path}",
    response_model=ToolOut,
    responses=refuses(errors.SessionNotFound, errors.ToolNotFound),
)
async def read_tool(service: Service, session_id: SessionId, name: str) -> Response:
    """The definition that the session advertises under a name."""
    tool = await get_tool(service, session_id, name)
    return Response(tool.encoded, media_type=JSON)


async def _changed(service: Resources, session: Session, body: Body) -> Answer:
    learned = await limits_learned(service, {session.model})
    answer = session_answer(session, learned.get(session.model))
    return {**answer, "repairs": body_repairs(body, [])}


def _refuse_immutable(value: object) -> None:
    for name in IMMUTABLE_FIELDS:
        if isinstance(value, dict) and name in value:
            raise ImmutableField(f"{name} of a session never changes", key=name)


def _cursor(sort: Sort, session: Session) -> str:
    value, session_id = position_of(session, sort)
    place = value.isoformat() if isinstance(value, datetime) else value
    return encode_cursor(_LIST, [sort, place, session_id])


def _position(sort: Sort, cursor: str) -> Position:
    match decode_cursor(_LIST, cursor):
        case [str() as made_for, place, str() as session_id] if made_for == sort:
            value = _place(sort, place)
            if value is not None and is_key(session_id):
                return value, session_id
    raise InvalidCursor("the cursor was not made for this sort", cursor=cursor[:100])


def _place(sort: Sort, place: str | int | float) -> datetime | float | None:
    """The sort value that a cursor holds; None where no list of that sort gave it out."""
    match place:
        case float() if sort == "used_percent" and isfinite(place):
            return place
        case str() if sort != "used_percent":
            try:
                time = datetime.fromisoformat(place)
            except ValueError:
                return None
            return time if time.utcoffset() == timedelta(0) else None
    return None
