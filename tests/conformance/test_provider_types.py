"""Every body is made of what the provider's official SDK knows."""

from typing import Any, get_args

import pytest
from hypothesis import given

from app.encoders.encoding import EncodingOptions, Format
from app.encoders.formats import ENCODERS
from app.services.encoding import encode_given
from tests.api.transcripts import CHAT_TRANSCRIPTS
from tests.conformance.provider_types import TYPES
from tests.conformance.requests import chat_request, coding_request, rich_request
from tests.properties.test_chat_encoders import CONVERSATIONS, SYSTEM, request_of

FORMATS = pytest.mark.parametrize("body_format", ENCODERS)


@FORMATS
@pytest.mark.parametrize("name", CHAT_TRANSCRIPTS)
async def test_a_chat_transcript_is_of_the_provider_s_types(body_format: Format, name: str) -> None:
    encoded = await encode_given(chat_request(name), body_format)

    TYPES[body_format](encoded.encoded.body())


@FORMATS
@pytest.mark.parametrize("request_of_all", [coding_request, rich_request])
async def test_long_and_odd_sessions_are_of_the_provider_s_types(
    body_format: Format, request_of_all: Any
) -> None:
    encoded = await encode_given(request_of_all(), body_format)

    TYPES[body_format](encoded.encoded.body())


@FORMATS
@given(items=CONVERSATIONS, system=SYSTEM)
def test_whatever_was_said_is_of_the_provider_s_types(
    body_format: Format, items: Any, system: Any
) -> None:
    encoded = ENCODERS[body_format](request_of(items, system), EncodingOptions())

    TYPES[body_format](encoded.body())


WRONG: dict[Format, list[dict[str, Any]]] = {
    "openai.chat": [
        {"messages": [{"role": "user", "content": "x"}]},
        {"model": "m", "messages": [{"role": "tool", "content": "x"}]},
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "text"}]}]},
        {"model": "m", "messages": [], "max_output_tokens": 1},
    ],
    "openai.responses": [
        {"model": "m", "input": [{"type": "function_call", "name": "read"}]},
        {"model": "m", "input": [], "max_tokens": 1},
        {"model": "m", "input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
    ],
    "anthropic.messages": [
        {"model": "m", "messages": [{"role": "user", "content": "x"}]},
        {"model": "m", "max_tokens": 1, "messages": [{"role": "tool", "content": "x"}]},
        {
            "model": "m",
            "max_tokens": 1,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "x", "id": "1"}]}],
        },
    ],
    "gemini.generate_content": [
        {"contents": [{"role": "user", "parts": [{"txt": "x"}]}]},
        {"contents": [], "tools": [{"functions": []}]},
        {"contents": [], "max_tokens": 1},
    ],
    "bedrock.converse": [
        {"messages": [{"role": "user", "content": [{"text": 1}]}]},
        {"messages": [{"role": "user", "content": [{"txt": "x"}]}]},
        {"messages": [], "max_tokens": 1},
    ],
    "mistral.chat": [
        {"model": "m", "messages": [{"role": "user"}]},
        {"model": "m", "messages": [], "max_output_tokens": 1},
        {"model": "m", "messages": [{"role": "user", "content": [{"type": "text"}]}]},
    ],
}


@pytest.mark.parametrize(
    ("body_format", "body"),
    [(body_format, body) for body_format in get_args(Format) for body in WRONG[body_format]],
)
def test_a_body_that_an_sdk_does_not_know_is_found(
    body_format: Format, body: dict[str, Any]
) -> None:
    with pytest.raises((AssertionError, KeyError, ValueError)):
        TYPES[body_format](body)
