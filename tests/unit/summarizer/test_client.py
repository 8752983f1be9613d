"""One attempt at an endpoint that misbehaves."""

import json
import socket

import pytest

from app.summarizer.answers import SummaryAnswer, SummaryError, SummaryFailure, SummaryText
from app.summarizer.client import MAX_REFUSAL_BYTES, TOO_LONG, Endpoint, Summarizer
from app.summarizer.completion import NO_COMPLETION, TOOL_CALL_IN_STREAM, UNUSABLE_JSON
from tests.summarizer_endpoint import (
    EVENTS,
    Behaviour,
    MisbehavingEndpoint,
    answering,
    delta,
    hanging,
    misbehaving,
    refusing,
    sse,
    streaming,
    telling,
)
from tests.unit.summarizer.test_chat_request import neutral, text

REQUEST = neutral(("user", [text("Summarise.")]))


def at(
    url: str,
    *,
    key: str | None = "sk-secret",
    timeout_seconds: float = 600,
    max_response_bytes: int = 50_000,
) -> Endpoint:
    return Endpoint(
        url=url,
        key=key,
        model=None,
        timeout_seconds=timeout_seconds,
        max_response_bytes=max_response_bytes,
    )


async def attempt(endpoint: Endpoint) -> SummaryAnswer:
    async with Summarizer(endpoint) as summarizer:
        return await summarizer.summarize(REQUEST)


async def attempted(behaviour: Behaviour) -> SummaryAnswer:
    async with misbehaving(behaviour) as endpoint:
        return await attempt(at(endpoint.url))


async def test_a_summary_comes_back_with_its_usage() -> None:
    async with misbehaving(telling("Hello", usage={"total_tokens": 3})) as endpoint:
        answer = await attempt(at(f"{endpoint.url}/"))

    received = endpoint.received[0]

    assert answer == SummaryText(
        text="Hello", finish_reason="stop", tool_calls=0, usage={"total_tokens": 3}
    )
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == "Bearer sk-secret"
    assert received.body["messages"] == [{"role": "user", "content": "Summarise."}]


async def test_without_a_key_none_is_sent() -> None:
    async with misbehaving(telling("Hello")) as endpoint:
        await attempt(at(endpoint.url, key=None))

    assert "authorization" not in endpoint.received[0].headers


async def test_a_key_is_not_shown_by_the_endpoint() -> None:
    assert "sk-secret" not in repr(at("http://127.0.0.1"))


async def test_a_document_in_place_of_a_stream_is_read() -> None:
    body = {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}

    answer = await attempted(answering(200, json.dumps(body).encode()))

    assert answer == SummaryText(text="Hello", finish_reason="stop", tool_calls=0, usage=None)


@pytest.mark.parametrize(
    ("behaviour", "failure"),
    [
        (streaming(delta(content="Hel")), NO_COMPLETION),
        (
            answering(200, sse([delta(content="Hel")]), EVENTS, length=9_999),
            SummaryFailure(error="transient", detail="the connection failed (RemoteProtocolError)"),
        ),
        (streaming("{oops"), UNUSABLE_JSON),
        (streaming(delta(tool_calls=[{"index": 0}])), TOOL_CALL_IN_STREAM),
        (streaming(*(delta(content="x" * 1_000) for _ in range(60))), TOO_LONG),
        (answering(200, b"[" * 60_000), TOO_LONG),
        (
            answering(500, b"x" * (MAX_REFUSAL_BYTES + 1)),
            SummaryFailure(error="transient", detail="HTTP 500"),
        ),
        (refusing(429), SummaryFailure(error="transient", detail="HTTP 429")),
        (
            refusing(401, code="invalid_api_key"),
            SummaryFailure(error="deterministic", detail="HTTP 401 (invalid_api_key)"),
        ),
        (
            refusing(400, code="context_length_exceeded"),
            SummaryFailure(error="context_overflow", detail="HTTP 400 (context_length_exceeded)"),
        ),
    ],
    ids=[
        "a stream cut off between events",
        "a connection cut off",
        "garbage",
        "a tool call",
        "an endless stream",
        "an endless document",
        "an endless refusal",
        "429",
        "401",
        "over-long input",
    ],
)
async def test_what_an_endpoint_does_wrong(behaviour: Behaviour, failure: SummaryFailure) -> None:
    assert await attempted(behaviour) == failure


async def test_K15_an_attempt_has_its_time_and_no_more() -> None:
    async with misbehaving(hanging) as endpoint:
        answer = await attempt(at(endpoint.url, timeout_seconds=0.05))

    assert answer == SummaryFailure(
        error="timeout", detail="compaction summary attempt timed out after 0.05 seconds"
    )


async def test_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        answer = await attempt(at(f"http://127.0.0.1:{unused.getsockname()[1]}"))

    assert answer == SummaryFailure(
        error="transient", detail="the connection failed (ConnectError)"
    )


async def test_a_connection_whose_greeting_is_never_answered() -> None:
    async with misbehaving(hanging) as endpoint:
        answer = await attempt(
            Endpoint(
                url=endpoint.url.replace("http:", "https:"),
                key=None,
                model=None,
                timeout_seconds=600,
                connect_seconds=0.05,
            )
        )

    assert answer == SummaryFailure(error="timeout", detail="the endpoint accepted no connection")


def limits_of(endpoint: MisbehavingEndpoint) -> list[set[str]]:
    names = {"max_tokens", "max_completion_tokens"}
    return [names & set(received.body) for received in endpoint.received]


UNSUPPORTED = refusing(400, code="unsupported_parameter", param="max_tokens")


async def test_a_model_that_knows_the_limit_by_its_other_name_is_asked_again() -> None:
    async with misbehaving(UNSUPPORTED, telling("Hello")) as endpoint:
        answer = await attempt(at(endpoint.url))

    assert isinstance(answer, SummaryText)
    assert limits_of(endpoint) == [{"max_tokens"}, {"max_completion_tokens"}]


async def test_a_model_that_knows_the_limit_by_no_name_is_asked_twice_only() -> None:
    async with misbehaving(UNSUPPORTED) as endpoint:
        answer = await attempt(at(endpoint.url))

    error: SummaryError = "deterministic"

    assert answer == SummaryFailure(error=error, detail="HTTP 400 (unsupported_parameter)")
    assert limits_of(endpoint) == [{"max_tokens"}, {"max_completion_tokens"}]
