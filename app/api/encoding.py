"""Encode and decode: a neutral request in a provider's words, and the provider's answer back."""

from fastapi import APIRouter
from starlette.responses import Response

from app.api.dependencies import JsonBody
from app.api.encoding_models import (
    DecodedOut,
    DecodeIn,
    EncodedOut,
    EncodeIn,
    decoded_answer,
    encoded_answer,
)
from app.api.openapi_docs import reads, refuses_body
from app.api.responses import json_response
from app.api.validation import validated
from app.core import errors
from app.core.usage_report import InvalidUsage
from app.encoders.decoding import InvalidAnswer
from app.importers.usage import usage_from
from app.services.encoding import decode_given, encode_given

router = APIRouter(prefix="/v1", tags=["stateless"])

_REQUEST = {"model": "gpt-5.1", "messages": [{"role": "user", "content": "Fix the build."}]}
_ANSWER = {
    "choices": [
        {"finish_reason": "stop", "message": {"role": "assistant", "content": "It is fixed."}}
    ]
}


@router.post(
    "/encode",
    response_model=EncodedOut,
    responses=refuses_body(
        errors.SystemMessageInConversation,
        errors.EmptyMessage,
        errors.InvalidToolMessage,
        errors.UnexpectedRole,
    ),
    openapi_extra=reads(EncodeIn, {"format": "openai.chat", "request": _REQUEST}),
)
async def encode(body: JsonBody) -> Response:
    """Say a neutral request in a provider's words; `call_ids` has the ids that were replaced."""
    given = validated(EncodeIn, body.value)
    return json_response(encoded_answer(await encode_given(given.request.request(), given.format)))


@router.post(
    "/decode",
    response_model=DecodedOut,
    responses=refuses_body(InvalidAnswer, InvalidUsage),
    openapi_extra=reads(DecodeIn, {"format": "openai.chat", "body": _ANSWER}),
)
async def decode(body: JsonBody) -> Response:
    """Turn a provider's answer into a message to append, with its usage."""
    given = validated(DecodeIn, body.value)
    decoded = await decode_given(given.body, given.asked(), given.format)
    numbers = None if decoded.usage is None else usage_from(given.format, decoded.usage)
    return json_response(decoded_answer(decoded, numbers))
