"""Refusals as RFC 9457 problems: the one place that knows an error and a status.

Source: docs/errors.md.
"""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.compaction import errors as compaction
from app.compaction import refusals
from app.core import canonical, errors, events, turns, usage_report
from app.encoders import decoding
from app.importers import transcript
from app.policies import codex_window, overrides, presets
from app.store.errors import DatabaseUnavailable
from app.world_state import errors as world_state

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 1

STATUS: Mapping[type[errors.ContextError], HTTPStatus] = {
    errors.BodyTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.ConversationMoved: HTTPStatus.CONFLICT,
    errors.DuplicateSystemContext: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.DuplicateToolCall: HTTPStatus.CONFLICT,
    errors.EmptyMessage: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.EmptySystemContext: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.EmptySystemContextKey: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ImmutableField: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InvalidCursor: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InvalidId: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InvalidModelProfile: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InvalidRequest: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InvalidToolMessage: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ItemOverLimit: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.MalformedJson: HTTPStatus.BAD_REQUEST,
    errors.MessageConflict: HTTPStatus.CONFLICT,
    errors.MessageNotFound: HTTPStatus.NOT_FOUND,
    errors.MessageTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.PreconditionFailed: HTTPStatus.PRECONDITION_FAILED,
    errors.PreparedNotFound: HTTPStatus.NOT_FOUND,
    errors.ReservedId: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.SessionConflict: HTTPStatus.CONFLICT,
    errors.SessionNotFound: HTTPStatus.NOT_FOUND,
    errors.SystemMessageInConversation: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TooDeep: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TooManyMessages: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.ToolNameCollision: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ToolNotFound: HTTPStatus.NOT_FOUND,
    errors.TurnRequired: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.UnexpectedKind: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.UnexpectedRole: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.UnknownField: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.UnmatchedToolResult: HTTPStatus.CONFLICT,
    errors.UnsupportedUserData: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.VersionConflict: HTTPStatus.CONFLICT,
    DatabaseUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    compaction.CompactionNotFound: HTTPStatus.NOT_FOUND,
    compaction.EmptyConversation: HTTPStatus.UNPROCESSABLE_ENTITY,
    compaction.MissingLastUser: HTTPStatus.UNPROCESSABLE_ENTITY,
    compaction.NothingToCompact: HTTPStatus.UNPROCESSABLE_ENTITY,
    compaction.StateError: HTTPStatus.UNPROCESSABLE_ENTITY,
    refusals.AlreadyCompactedInCall: HTTPStatus.CONFLICT,
    refusals.ClaimLost: HTTPStatus.CONFLICT,
    refusals.CompactionClosed: HTTPStatus.CONFLICT,
    refusals.CompactionInProgress: HTTPStatus.CONFLICT,
    refusals.CompactionNotCurrent: HTTPStatus.CONFLICT,
    refusals.CompactionNotRestorable: HTTPStatus.UNPROCESSABLE_ENTITY,
    refusals.HistoryReplaced: HTTPStatus.CONFLICT,
    refusals.InvalidBoundary: HTTPStatus.UNPROCESSABLE_ENTITY,
    refusals.InvalidPage: HTTPStatus.UNPROCESSABLE_ENTITY,
    refusals.NoCompaction: HTTPStatus.NOT_FOUND,
    refusals.SessionActive: HTTPStatus.CONFLICT,
    refusals.SummarizerNotConfigured: HTTPStatus.UNPROCESSABLE_ENTITY,
    refusals.TurnNotRunning: HTTPStatus.CONFLICT,
    events.TooManyStreams: HTTPStatus.SERVICE_UNAVAILABLE,
    turns.TurnActive: HTTPStatus.CONFLICT,
    turns.TurnClosed: HTTPStatus.CONFLICT,
    usage_report.InvalidUsage: HTTPStatus.UNPROCESSABLE_ENTITY,
    usage_report.UsageConflict: HTTPStatus.CONFLICT,
    decoding.InvalidAnswer: HTTPStatus.UNPROCESSABLE_ENTITY,
    transcript.InvalidTranscript: HTTPStatus.UNPROCESSABLE_ENTITY,
    codex_window.InvalidWindow: HTTPStatus.UNPROCESSABLE_ENTITY,
    presets.UnknownPolicy: HTTPStatus.UNPROCESSABLE_ENTITY,
    overrides.UnknownPolicyOverride: HTTPStatus.UNPROCESSABLE_ENTITY,
    world_state.InvalidCustomSection: HTTPStatus.UNPROCESSABLE_ENTITY,
    world_state.ProjectInstructionError: HTTPStatus.UNPROCESSABLE_ENTITY,
    world_state.SectionCaptureFailed: HTTPStatus.UNPROCESSABLE_ENTITY,
    world_state.SectionOverLimit: HTTPStatus.UNPROCESSABLE_ENTITY,
    world_state.SkillCatalogTaskError: HTTPStatus.UNPROCESSABLE_ENTITY,
    world_state.UnknownSection: HTTPStatus.UNPROCESSABLE_ENTITY,
    world_state.UserProjectContextError: HTTPStatus.UNPROCESSABLE_ENTITY,
}

TRANSPORT_CODES: Mapping[str, HTTPStatus] = {
    "not_found": HTTPStatus.NOT_FOUND,
    "method_not_allowed": HTTPStatus.METHOD_NOT_ALLOWED,
    "internal_error": HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""Problems that no rule raises."""

_RETRYABLE = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


def install(app: FastAPI) -> None:
    """Answer every failure of an application with a problem."""
    app.add_exception_handler(errors.ContextError, refused)
    app.add_exception_handler(HTTPException, _transport)
    app.add_exception_handler(Exception, _failed)


def problem(
    request: Request,
    code: str,
    status: HTTPStatus,
    detail: str,
    details: Mapping[str, object],
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem document as a response."""
    # The offender comes first, so that it can never overwrite a standard member.
    body = {
        **{key: value for key, value in details.items() if value is not None},
        "type": f"/problems/{code}",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        "instance": request.url.path,
        "code": code,
        "retryable": status in _RETRYABLE,
    }
    return Response(
        canonical.encode(body), status.value, dict(headers or {}), media_type=MEDIA_TYPE
    )


async def refused(request: Request, error: Exception) -> Response:
    """A refusal as a problem."""
    assert isinstance(error, errors.ContextError)
    status = STATUS[type(error)]
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if status in _RETRYABLE else {}
    return problem(request, error.code, status, error.detail, error.details, headers)


async def _transport(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    code = status.name.lower()
    return problem(request, code, status, str(error.detail), {}, error.headers)


async def _failed(request: Request, _error: Exception) -> Response:
    return problem(
        request,
        "internal_error",
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "the service failed; nothing was stored",
        {},
    )
