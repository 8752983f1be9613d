"""Compactions of a session: plan and claim, complete or fail, look at, go back."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api.compaction_models import (
    CompactionIn,
    CompactionOut,
    CompactionPageOut,
    CompletionIn,
    FailureReportIn,
    ReplyOut,
    RewindIn,
    compaction_answer,
)
from app.api.dependencies import JsonBody, Runs, Service, SessionId
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.pages import PageQuery, decode_ordinal, encode_cursor
from app.api.pair_models import with_asked_pairs
from app.api.repairs import with_repairs
from app.api.responses import JSON, json_response, spliced
from app.api.validation import validated
from app.compaction import errors as compaction_errors
from app.compaction import refusals
from app.core import canonical
from app.core.errors import (
    ConversationMoved,
    InvalidCursor,
    InvalidId,
    InvalidRequest,
    SessionNotFound,
    UnknownField,
)
from app.core.usage_report import InvalidUsage
from app.services.claims import Claimed
from app.services.compact import start_compaction
from app.services.compactions import list_compactions, wait_for_compaction
from app.services.complete import Reply
from app.services.pair_answers import BatchReply, answer_report
from app.services.pair_batches import ClaimedBatch, start_batch
from app.services.provider_folds import record_provider_fold
from app.services.rewind import rewind_session
from app.services.summaries import start_run

router = APIRouter(prefix="/v1/sessions/{session_id}", tags=["compactions"])

FOLD_REFUSALS = (
    compaction_errors.EmptyConversation,
    compaction_errors.MissingLastUser,
    compaction_errors.NothingToCompact,
)
START_REFUSALS = (
    refusals.SessionActive,
    refusals.TurnNotRunning,
    refusals.AlreadyCompactedInCall,
    refusals.CompactionInProgress,
    compaction_errors.StateError,
    *FOLD_REFUSALS,
)
_REPORT_REFUSALS = (
    SessionNotFound,
    compaction_errors.CompactionNotFound,
    refusals.CompactionClosed,
    refusals.ClaimLost,
    ConversationMoved,
    InvalidUsage,
)
_LIST = "compactions"
_RETRY_SECONDS = 2


class WaitQuery(BaseModel):
    """How long to wait for an end."""

    model_config = ConfigDict(extra="forbid")

    wait_seconds: float = Field(default=0, ge=0, le=60, allow_inf_nan=False)


@router.post(
    "/compactions",
    status_code=HTTPStatus.CREATED,
    response_model=CompactionOut,
    responses={HTTPStatus.OK: {"model": CompactionOut, "description": "It was there already"}}
    | refuses_body(
        SessionNotFound,
        InvalidId,
        refusals.SummarizerNotConfigured,
        refusals.InvalidBoundary,
        *START_REFUSALS,
    ),
    openapi_extra=reads(CompactionIn, {"kind": "manual", "instructions": "Keep the decisions."}),
)
async def start(
    service: Service,
    runs: Runs,
    session_id: SessionId,
    body: JsonBody,
    idempotency_key: Annotated[str | None, Header()] = None,
) -> Response:
    """Plan a compaction and claim it; the same plan again is the same compaction.

    A repeat with the same `Idempotency-Key` gets its claim again. With `run` the service
    asks its own summarizer and keeps the claim. Kind `provider` records a fold that the provider
    made of a context that it owns: `completed` at once.
    """
    given = validated(CompactionIn, body.value)
    fold = given.provider_fold()
    if fold is not None:
        row, is_new = await record_provider_fold(service, session_id, fold)
        told = with_repairs(canonical.encode(compaction_answer(row)), body)
        status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
        return Response(told, status, media_type=JSON)
    request = given.request(idempotency_key)
    claimed: Claimed | ClaimedBatch
    if given.kind == "tool_pairs":
        claimed = await start_batch(service, session_id, request)
    elif given.run:
        claimed = await start_run(runs, session_id, request)
    else:
        claimed = await start_compaction(service, session_id, request)
    status = HTTPStatus.CREATED if claimed.outcome == "created" else HTTPStatus.OK
    headers = {"Retry-After": str(_RETRY_SECONDS)} if claimed.is_held_elsewhere else {}
    told = batch_bytes(claimed) if isinstance(claimed, ClaimedBatch) else claimed_bytes(claimed)
    return Response(with_repairs(told, body), status, headers, media_type=JSON)


@router.get(
    "/compactions",
    response_model=CompactionPageOut,
    responses=refuses(SessionNotFound, InvalidCursor, InvalidRequest, UnknownField),
)
async def list_all(
    service: Service, session_id: SessionId, wanted: Annotated[PageQuery, Query()]
) -> Response:
    """List the compactions of a session in the order of their creation."""
    after = None if wanted.cursor is None else decode_ordinal(_LIST, wanted.cursor)
    found = await list_compactions(service, session_id, wanted.order, after, wanted.limit + 1)
    shown = found[: wanted.limit]
    more = len(found) > wanted.limit
    cursor = encode_cursor(_LIST, [shown[-1].ordinal]) if more else None
    return json_response(
        {"items": [compaction_answer(entry) for entry in shown], "next_cursor": cursor}
    )


@router.get(
    "/compactions/{compaction_id}",
    response_model=CompactionOut,
    responses=refuses(
        SessionNotFound, compaction_errors.CompactionNotFound, InvalidRequest, UnknownField
    ),
)
async def read(
    service: Service,
    session_id: SessionId,
    compaction_id: str,
    wanted: Annotated[WaitQuery, Query()],
) -> Response:
    """Read a compaction; with `wait_seconds`, once it has ended or the time is up."""
    found = await wait_for_compaction(service, session_id, compaction_id, wanted.wait_seconds)
    return json_response(compaction_answer(found))


@router.post(
    "/compactions/{compaction_id}/complete",
    response_model=ReplyOut,
    responses=refuses_body(*_REPORT_REFUSALS),
    openapi_extra=reads(
        CompletionIn,
        {"claim": "claim-1", "attempt": 1, "summary": "<conversation_summary …>"},
    ),
)
async def complete(
    service: Service, session_id: SessionId, compaction_id: str, body: JsonBody
) -> Response:
    """Give a model's answer: it is installed, or rejected with a request for another one.

    Of tool pairs an answer for each; those without one are skipped.
    """
    given = validated(CompletionIn, body.value)
    reply = await answer_report(service, session_id, compaction_id, given.completion())
    return Response(with_repairs(_reply(reply), body), media_type=JSON)


@router.post(
    "/compactions/{compaction_id}/fail",
    response_model=ReplyOut,
    responses=refuses_body(*_REPORT_REFUSALS),
    openapi_extra=reads(
        FailureReportIn, {"claim": "claim-1", "attempt": 1, "error": "context_overflow"}
    ),
)
async def fail(
    service: Service, session_id: SessionId, compaction_id: str, body: JsonBody
) -> Response:
    """Report an attempt without an answer; after an overflow the next request is smaller."""
    given = validated(FailureReportIn, body.value)
    reply = await answer_report(service, session_id, compaction_id, given.failure())
    return Response(with_repairs(_reply(reply), body), media_type=JSON)


@router.post(
    "/rewind",
    status_code=HTTPStatus.CREATED,
    response_model=CompactionOut,
    responses=refuses_body(
        SessionNotFound,
        compaction_errors.CompactionNotFound,
        compaction_errors.StateError,
        refusals.SessionActive,
        refusals.CompactionNotRestorable,
        refusals.CompactionNotCurrent,
        refusals.InvalidBoundary,
    ),
    openapi_extra=reads(RewindIn, {"through_sequence": 2}),
)
async def rewind(
    service: Service,
    session_id: SessionId,
    body: JsonBody,
    idempotency_key: Annotated[str | None, Header()] = None,
) -> Response:
    """Show the session as it was at a checkpoint or a sequence, or undo a compaction.

    A repeat with the same `Idempotency-Key` gets the same answer.
    """
    given = validated(RewindIn, body.value)
    row = await rewind_session(service, session_id, given.target(), idempotency_key)
    return json_response(compaction_answer(row), HTTPStatus.CREATED)


def claimed_bytes(claimed: Claimed) -> bytes:
    """A claimed or found compaction, with the summary request where the caller holds the claim."""
    claim = claimed.compaction.claim
    held = claim is not None and claimed.request is not None
    answer = compaction_answer(claimed.compaction, claim.token if held and claim else None)
    before = canonical.encode(answer)
    if claimed.request is None:
        return before
    return spliced(before, "summary_request", [claimed.request.body])


def batch_bytes(claimed: ClaimedBatch) -> bytes:
    """A batch of tool pairs, with what is asked of each where the caller holds the claim."""
    claim = claimed.compaction.claim
    if claimed.pairs is None or claim is None:
        return canonical.encode(compaction_answer(claimed.compaction))
    answer = compaction_answer(claimed.compaction, claim.token)
    del answer["pairs"]
    return with_asked_pairs(canonical.encode(answer), claimed.pairs)


def _reply(reply: Reply | BatchReply) -> bytes:
    before = canonical.encode(reply.answer)
    if isinstance(reply, BatchReply):
        return before if reply.pairs is None else with_asked_pairs(before, reply.pairs)
    if reply.request is None:
        return before
    return spliced(before, "summary_request", [reply.request.body])
