"""Refusals by status and code."""

import pytest

from app.summarizer.answers import SummaryError, SummaryFailure
from app.summarizer.refusals import Refusal


def refusal(status: int | None, **error: object) -> Refusal:
    return Refusal(status=status, body={"error": error})


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        (refusal(401, code="invalid_api_key"), "deterministic"),
        (refusal(400, code="context_length_exceeded"), "context_overflow"),
        (refusal(400, type="exceed_context_size_error"), "context_overflow"),
        (refusal(413), "context_overflow"),
        (refusal(400, message="context_length_exceeded"), "deterministic"),
        (refusal(400, code="overloaded"), "transient"),
        (refusal(403), "deterministic"),
        (refusal(404, code="model_not_found"), "deterministic"),
        (refusal(422), "deterministic"),
        (refusal(302), "deterministic"),
        (refusal(408), "transient"),
        (refusal(409), "transient"),
        (refusal(425), "transient"),
        (refusal(429, code="insufficient_quota"), "transient"),
        (refusal(500), "transient"),
        (refusal(529, type="overloaded_error"), "transient"),
        (refusal(None, code=429), "transient"),
        (refusal(None, code=401), "deterministic"),
        (refusal(None, code=7), "transient"),
        (refusal(None, code=True), "transient"),
        (refusal(400, code=500), "deterministic"),
        (Refusal(status=400, body={"code": "context_length_exceeded"}), "context_overflow"),
        (Refusal(status=400, body={"error": "context_length_exceeded"}), "deterministic"),
        (Refusal(status=400, body={}), "deterministic"),
    ],
    ids=[
        "K15 authentication",
        "K15 overflow",
        "llama.cpp's overflow",
        "too large",
        "a code in the words counts for nothing",
        "K15 overloaded",
        "forbidden",
        "no such model",
        "unprocessable",
        "a redirect",
        "request timeout",
        "conflict",
        "too early",
        "rate",
        "server error",
        "a status that HTTP does not know",
        "a status in a stream",
        "a refusal in a stream",
        "a number that is no status",
        "a code that is no number",
        "the response's own status counts",
        "members at the top",
        "an error that is a string",
        "no body",
    ],
)
def test_the_class_of_a_refusal(refused: Refusal, error: SummaryError) -> None:
    assert refused.failure().error == error


def test_a_detail_holds_codes_and_never_words() -> None:
    refused = refusal(401, code="invalid_api_key", type="no, not this", message="key sk-1234")

    assert refused.failure() == SummaryFailure(
        error="deterministic", detail="HTTP 401 (invalid_api_key)"
    )


@pytest.mark.parametrize(
    ("code", "param", "wants"),
    [
        ("unsupported_parameter", "max_tokens", True),
        ("unsupported_parameter", "tools", False),
        ("invalid_value", "max_tokens", False),
    ],
)
def test_only_an_unsupported_limit_asks_for_its_other_name(
    code: str, param: str, wants: bool
) -> None:
    assert refusal(400, code=code, param=param).wants_other_limit is wants
