"""Completions out of whatever bytes an endpoint sends."""

import json

import pytest

from app.summarizer.answers import SummaryAnswer, SummaryFailure, SummaryText
from app.summarizer.completion import (
    NO_COMPLETION,
    TOOL_CALL_IN_STREAM,
    TWO_COMPLETIONS,
    UNUSABLE_JSON,
    StreamedCompletion,
    WholeCompletion,
)
from tests.summarizer_endpoint import delta, sse

STOPPED = (delta(content="Hel"), delta("stop", content="lo"))


def streamed(data: bytes, step: int | None = None) -> SummaryAnswer:
    """The answer to bytes that come in pieces."""
    completion = StreamedCompletion()
    pieces = range(0, len(data), step or len(data) or 1)
    for start in pieces:
        answer = completion.feed(data[start : start + (step or len(data))])
        if answer is not None:
            return answer
    return completion.end()


def answered(text: str, **fields: object) -> SummaryText:
    usage = fields.get("usage")
    return SummaryText(
        text=text,
        finish_reason="stop",
        tool_calls=0,
        usage=usage if isinstance(usage, dict) else None,
    )


@pytest.mark.parametrize("step", [None, 1, 7])
def test_the_pieces_of_a_stream_do_not_matter(step: int | None) -> None:
    data = sse([*STOPPED, {"choices": [], "usage": {"total_tokens": 3}}, "[DONE]"])

    assert streamed(data, step) == answered("Hello", usage={"total_tokens": 3})


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (sse(STOPPED), "Hello"),
        (sse([*STOPPED, "[DONE]"]).replace(b"\n", b"\r\n"), "Hello"),
        (sse([*STOPPED, "[DONE]"]).replace(b": ", b":").rstrip(b"\n"), "Hello"),
        (b": comment\nevent: chunk\nid: 1\ndata:\n\n" + sse(STOPPED), "Hello"),
        (sse([*STOPPED, delta("length"), delta("stop")]), "Hello"),
        (sse([*STOPPED, {"choices": [], "usage": None}, "[DONE]"]), "Hello"),
        (sse([delta(content="a\u2028b\x85"), delta("stop")]), "a\u2028b\x85"),
        (sse([delta(content=[{"type": "text", "text": "Hi"}, 3]), delta("stop")]), "Hi"),
        (sse([delta(content="\ud83d"), delta("stop", content="\ude00\ud83d")]), "😀�"),
        (sse(['{"choices": 3, "usage": 3}', *STOPPED]), "Hello"),
        (sse(['{"choices": [4, {"delta": 5}]}', *STOPPED]), "Hello"),
    ],
    ids=[
        "no end mark",
        "CRLF",
        "no space and no last line end",
        "other lines",
        "the finish reason again",
        "null usage",
        "separators inside a text",
        "content in parts",
        "a pair of surrogates cut in two",
        "members of other types",
        "choices of other types",
    ],
)
def test_what_counts_as_an_answer(data: bytes, text: str) -> None:
    assert streamed(data) == answered(text)


@pytest.mark.parametrize(
    ("data", "failure"),
    [
        (b"", NO_COMPLETION),
        (sse(STOPPED[:1]), NO_COMPLETION),
        (sse([STOPPED[0], "[DONE]"]), NO_COMPLETION),
        (b"<html>Bad gateway</html>", NO_COMPLETION),
        (sse(["{oops", "[DONE]"]), UNUSABLE_JSON),
        (sse(["[]"]), UNUSABLE_JSON),
        (sse([100_000 * "["]), UNUSABLE_JSON),
        (b"data: \xff\n", UNUSABLE_JSON),
        (sse([*STOPPED, *STOPPED]), TWO_COMPLETIONS),
        (sse([delta(tool_calls=[{"index": 0}])]), TOOL_CALL_IN_STREAM),
        (sse([delta(function_call={"name": "read"})]), TOOL_CALL_IN_STREAM),
    ],
    ids=[
        "nothing",
        "cut off",
        "missing response",
        "no stream",
        "garbage",
        "no object",
        "too deep",
        "no UTF-8",
        "K15 duplicate response",
        "tool call",
        "function call",
    ],
)
def test_what_is_no_answer(data: bytes, failure: SummaryFailure) -> None:
    assert streamed(data) == failure


def test_a_tool_call_ends_a_stream_at_once() -> None:
    completion = StreamedCompletion()

    answer = completion.feed(sse([delta(content="Let me see."), delta(tool_calls=[{"index": 0}])]))

    assert answer == TOOL_CALL_IN_STREAM


def test_an_error_in_a_stream_has_the_class_of_its_code() -> None:
    overflow = sse([STOPPED[0], {"error": {"code": "context_length_exceeded", "message": "No."}}])
    other = sse([STOPPED[0], {"error": {"message": "secret words"}}])

    assert streamed(overflow) == SummaryFailure(
        error="context_overflow",
        detail="the response stream ended in an error (context_length_exceeded)",
    )
    assert streamed(other) == SummaryFailure(
        error="transient", detail="the response stream ended in an error"
    )


def test_a_usage_that_cannot_be_stored_is_left_out() -> None:
    data = sse([*STOPPED, '{"choices": [], "usage": {"total_tokens": NaN}}', "[DONE]"])

    assert streamed(data) == answered("Hello")


def whole(body: object) -> SummaryAnswer:
    completion = WholeCompletion()
    for byte in json.dumps(body).encode():
        completion.feed(bytes([byte]))
    return completion.end()


def test_a_server_that_does_not_stream_is_understood() -> None:
    choice = {"message": {"content": "Hello", "tool_calls": [{}, {}]}, "finish_reason": "x" * 99}
    body = {"choices": [choice], "usage": {"total_tokens": 3}}

    assert whole(body) == SummaryText(
        text="Hello", finish_reason="x" * 64, tool_calls=2, usage={"total_tokens": 3}
    )


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ([], UNUSABLE_JSON),
        ({"choices": []}, NO_COMPLETION),
        (
            {"error": {"code": 503}},
            SummaryFailure(error="transient", detail="HTTP 503"),
        ),
    ],
    ids=["no object", "no choice", "an error with status 200"],
)
def test_a_document_without_an_answer_is_a_failure(body: object, failure: SummaryFailure) -> None:
    assert whole(body) == failure


def test_a_document_without_text_is_an_empty_answer() -> None:
    assert whole({"choices": [{"message": None}]}) == SummaryText(
        text="", finish_reason=None, tool_calls=0, usage=None
    )
