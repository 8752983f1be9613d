"""What a worker posts through an official SDK arrives as it was prepared."""

import asyncio
import json
from typing import Any

import pytest

from app.encoders.decoding import Asked
from app.encoders.encoding import Format
from app.encoders.formats import DECODERS, ENCODERS
from app.services.encoding import GivenRequest, encode_given
from tests.api.transcripts import CHAT_TRANSCRIPTS
from tests.conformance.posting import SDKS
from tests.conformance.provider_server import Provider, provider
from tests.conformance.requests import MODEL, chat_request, coding_request, rich_request

FORMATS = pytest.mark.parametrize("body_format", ENCODERS)


async def post(served: Provider, body_format: Format, given: GivenRequest) -> Any:
    """The body as it was prepared, and as it arrived."""
    sdk = SDKS[body_format]
    body = json.loads(json.dumps((await encode_given(given, body_format)).encoded.body()))
    await asyncio.to_thread(sdk.post, served.address, MODEL, body)
    path, arrived = served.posted[-1]
    assert path == sdk.path.format(model=MODEL)
    return sdk.arrives(body), arrived


@FORMATS
async def test_sessions_arrive_at_the_provider_as_they_were_prepared(body_format: Format) -> None:
    with provider(SDKS[body_format].answer) as served:
        for given in (*map(chat_request, CHAT_TRANSCRIPTS), coding_request(), rich_request()):
            prepared, arrived = await post(served, body_format, given)
            assert arrived == prepared


@FORMATS
def test_the_answer_that_the_sdk_took_is_one(body_format: Format) -> None:
    decoded = DECODERS[body_format](SDKS[body_format].answer, Asked(model=MODEL))

    assert [getattr(block, "text", None) for block in decoded.blocks] == ["Done."]
