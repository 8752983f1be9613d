"""Prepare the next model call of a session, and get it again."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from app.api.answers import (
    Answer,
    budget_answer,
    decision_answer,
    items_answer,
    limits_answer,
    prefix_answer,
    projection_answer,
    provenance_answer,
    pruned_answer,
    repair_answer,
)
from app.api.body import Body
from app.api.compactions import START_REFUSALS, claimed_bytes
from app.api.dependencies import JsonBody, Service, SessionId
from app.api.encoding_models import encoded_fields, encoding_repairs
from app.api.message_models import MAX_BATCH
from app.api.messages import APPEND_REFUSALS
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.prepare_models import PreparedOut, PrepareIn, RequestOut, SessionInclude
from app.api.repairs import body_repairs, refuse_large_batch
from app.api.responses import JSON, NDJSON, spliced
from app.api.validation import validated
from app.api.world_state import CAPTURE_REFUSALS
from app.api.world_state_models import sample_bytes
from app.core import canonical, errors
from app.core.stored import LearnedLimit
from app.services.block_counts import count_call_blocks
from app.services.inspect import rebuild_call
from app.services.prepare import Prepared, prepare_call
from app.services.resources import Resources
from app.services.verdicts import verdicts_of
from app.services.wordings import Wording

router = APIRouter(prefix="/v1/sessions/{session_id}", tags=["prepare"])

ENGINE_REFUSALS = (
    errors.UnsupportedUserData,
    errors.EmptySystemContextKey,
    errors.EmptySystemContext,
    errors.DuplicateSystemContext,
    errors.ItemOverLimit,
    errors.SystemMessageInConversation,
)

REQUEST_RESPONSE: dict[int | str, dict[str, Any]] = {
    HTTPStatus.OK: {"content": {NDJSON: {"schema": {"type": "string"}}}}
}
"""With `Accept: application/x-ndjson` the request is the second line."""

_EXAMPLE: dict[str, object] = {
    "turn_id": "t-1",
    "model_call": 1,
    "sample": 1,
    "append": [{"id": "m-1", "turn_id": "t-1", "role": "user", "content": "Fix the build."}],
    "world_state": {"instructions": {"content": "Run the tests before you answer.\n"}},
    "include": ["provenance"],
}


@router.post(
    "/prepare",
    response_model=PreparedOut,
    responses=REQUEST_RESPONSE
    | refuses_body(
        *APPEND_REFUSALS,
        *CAPTURE_REFUSALS,
        *ENGINE_REFUSALS,
        *START_REFUSALS,
        errors.PreparedNotFound,
    ),
    openapi_extra=reads(PrepareIn, _EXAMPLE),
)
async def prepare(
    service: Service,
    session_id: SessionId,
    body: JsonBody,
    http_request: Request,
    idempotency_key: Annotated[str | None, Header()] = None,
) -> Response:
    """Append, sample world state and prepare the next call, in one transaction.

    With `start_compaction` a repeat with the same `Idempotency-Key` gets its claim again. With
    `Accept: application/x-ndjson` the first line of the answer is everything but the request, the
    second one the request's exact bytes.
    """
    refuse_large_batch(body.value, "append", MAX_BATCH)
    given = validated(PrepareIn, body.value)
    prepared = await prepare_call(service, session_id, given.request(idempotency_key))
    verdicts = await _verdicts(service, prepared, given.include)
    about = await _about(prepared, body, given.include, verdicts)
    return request_response(about, prepared.named.wording, http_request)


@router.get(
    "/prepared/{prepared_id}",
    response_model=RequestOut | dict[str, Any],
    responses=refuses(errors.SessionNotFound, errors.PreparedNotFound),
)
async def read_prepared(service: Service, session_id: SessionId, prepared_id: str) -> Response:
    """The exact bytes of a request that was prepared before, in the format that it had."""
    wording = await rebuild_call(service, session_id, prepared_id)
    return Response(b"".join(wording.fragments()), media_type=JSON)


def request_response(about: bytes, wording: Wording, http_request: Request) -> Response:
    """An answer with its request: spliced into it, or a line of its own."""
    request = wording.fragments()
    if NDJSON in http_request.headers.get("accept", ""):
        return Response(b"".join([about, b"\n", *request, b"\n"]), media_type=NDJSON)
    return Response(spliced(about, "request", request), media_type=JSON)


async def call_answer(
    wording: Wording,
    include: Sequence[SessionInclude],
    repairs: Sequence[Answer],
    learned: LearnedLimit | None = None,
) -> Answer:
    """A prepared call without its request; the body's own repairs come first."""
    call = wording.call
    answer: Answer = {
        "budget": budget_answer(call.budget),
        "limits": limits_answer(call.limits, call.profile, call.policy, learned),
        "decision": decision_answer(call.decision),
        "projection": projection_answer(call.projection),
        "pruned": pruned_answer(call),
        "repairs": [
            *repairs,
            *map(repair_answer, call.repairs),
            *encoding_repairs(wording),
        ],
    }
    if wording.encoded is not None:
        answer |= encoded_fields(wording.encoded)
    if "provenance" in include:
        answer["provenance"] = [provenance_answer(item) for item in call.conversation]
    if "items" in include:
        answer["items"] = items_answer(call, await count_call_blocks(call))
    return answer


async def _verdicts(
    service: Resources, prepared: Prepared, include: Sequence[SessionInclude]
) -> Answer:
    if "verdicts" not in include:
        return {}
    made = prepared.named.made
    judged = await verdicts_of(service, prepared.session.incarnation, made)
    return {
        "verdicts": [
            {
                "message_id": each.message_id,
                "sequence": each.sequence,
                "verdict": each.verdict.verdict,
                "rule": each.verdict.rule,
            }
            for each in judged
        ]
    }


async def _about(
    prepared: Prepared, body: Body, include: Sequence[SessionInclude], verdicts: Answer
) -> bytes:
    """Everything of the answer but the request."""
    named, session = prepared.named, prepared.session
    ids = [message_id for message_id, _ in prepared.appended.placed]
    answer = await call_answer(named.wording, include, body_repairs(body, ids), prepared.learned)
    decision = _decision(prepared, answer.pop("decision"))
    answer |= {
        "prepared_id": named.id,
        "session_id": session.id,
        "version": session.version,
        "message_count": session.message_count,
        "appended": [
            {"id": message_id, "sequence": sequence}
            for message_id, sequence in prepared.appended.placed
        ],
        "prefix": prefix_answer(named.prefix),
        **verdicts,
    }
    about = spliced(canonical.encode(answer), "decision", [decision])
    return spliced(about, "world_state", [_world_state(prepared)])


def _decision(prepared: Prepared, answer: object) -> bytes:
    """The decision; a compaction that was claimed stands where its kind and key would."""
    if prepared.claimed is None:
        return canonical.encode(answer)
    decision = decision_answer(prepared.named.made.call.decision)
    del decision["compaction"]
    claimed = claimed_bytes(prepared.claimed)
    return spliced(canonical.encode(decision), "compaction", [claimed])


def _world_state(prepared: Prepared) -> bytes:
    if prepared.sampled is None:
        return canonical.encode({"emitted": []})
    return sample_bytes(prepared.session.id, prepared.sampled)
