"""World state of a session: sample it, look at it."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.dependencies import JsonBody, Service, SessionId
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.repairs import body_repairs
from app.api.responses import JSON, json_response, spliced
from app.api.validation import validated
from app.api.world_state_models import (
    SampleAnswerOut,
    SampleIn,
    WorldStateOut,
    sample_bytes,
    world_state_answer,
)
from app.core import canonical
from app.core.errors import InvalidId, SessionNotFound, TurnRequired
from app.services.world_state import known_sections, sample_world_state
from app.world_state import errors

router = APIRouter(prefix="/v1/sessions/{session_id}/world-state", tags=["world state"])

CAPTURE_REFUSALS = (
    TurnRequired,
    errors.UserProjectContextError,
    errors.ProjectInstructionError,
    errors.SkillCatalogTaskError,
    errors.SectionOverLimit,
    errors.SectionCaptureFailed,
    errors.InvalidCustomSection,
    errors.UnknownSection,
)

_EXAMPLE: dict[str, object] = {
    "turn_id": "t-1",
    "model_call": 1,
    "sample": 1,
    "capture": {"instructions": {"content": "Run the tests before you answer.\n"}},
    "on_error": {"instructions": "last_good"},
}


@router.post(
    "",
    response_model=SampleAnswerOut,
    responses=refuses_body(SessionNotFound, InvalidId, *CAPTURE_REFUSALS),
    openapi_extra=reads(SampleIn, _EXAMPLE),
)
async def sample(service: Service, session_id: SessionId, body: JsonBody) -> Response:
    """Append what changed since the model was last told; the first capture of a point wins."""
    request = validated(SampleIn, body.value).request()
    sampled = await sample_world_state(service, session_id, request)
    repairs = canonical.encode(body_repairs(body, []))
    return Response(
        spliced(sample_bytes(session_id, sampled), "repairs", [repairs]), media_type=JSON
    )


@router.get("", response_model=WorldStateOut, responses=refuses(SessionNotFound))
async def read(service: Service, session_id: SessionId) -> Response:
    """What the session knows of every section, and which message told the model."""
    return json_response(world_state_answer(await known_sections(service, session_id)))
