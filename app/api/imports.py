"""Import: a transcript of a provider or another program as what a session is made of."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.dependencies import JsonBody
from app.api.import_models import ImportedOut, ImportIn, imported_answer
from app.api.openapi_docs import reads, refuses_body
from app.api.repairs import body_repairs
from app.api.responses import json_response
from app.api.validation import validated
from app.importers.transcript import InvalidTranscript
from app.services.transcripts import import_given

router = APIRouter(prefix="/v1", tags=["stateless"])

_TRANSCRIPT = {"messages": [{"role": "user", "content": "Fix the build."}]}


@router.post(
    "/import",
    response_model=ImportedOut,
    responses=refuses_body(InvalidTranscript),
    openapi_extra=reads(ImportIn, {"format": "openai.chat", "transcript": _TRANSCRIPT}),
)
async def import_transcript(body: JsonBody) -> Response:
    """Read a transcript as system parts and tools of an agent, and messages to append."""
    given = validated(ImportIn, body.value)
    imported = await import_given(given.transcript, given.format, given.model)
    return json_response(imported_answer(imported, body_repairs(body, [])))
