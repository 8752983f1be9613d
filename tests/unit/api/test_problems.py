"""Problems: standard members first, and an offender that can never overwrite them."""

import json
from http import HTTPStatus
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.api.problems import STATUS, problem, refused
from app.core.errors import ContextError, SessionNotFound
from app.core.events import TooManyStreams
from app.store.errors import DatabaseUnavailable


def request() -> Request:
    return Request({"type": "http", "method": "GET", "path": "/v1/x", "headers": []})


def body_of(response: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(response.body)
    return body


async def test_a_refusal_is_a_problem_that_names_the_offender() -> None:
    response = await refused(request(), SessionNotFound("there is no session 's'", session_id="s"))

    assert response.status_code == HTTPStatus.NOT_FOUND
    assert response.media_type == "application/problem+json"
    assert body_of(response) == {
        "session_id": "s",
        "type": "/problems/session_not_found",
        "title": "Not Found",
        "status": 404,
        "detail": "there is no session 's'",
        "instance": "/v1/x",
        "code": "session_not_found",
        "retryable": False,
    }


def test_details_overwrite_no_standard_member_and_leave_out_what_is_null() -> None:
    details = {"code": "mine", "status": 200, "message_index": None, "block_index": 0}

    body = body_of(problem(request(), "theirs", HTTPStatus.CONFLICT, "d", details))

    assert (body["code"], body["status"], body["block_index"]) == ("theirs", 409, 0)
    assert "message_index" not in body


async def test_what_may_succeed_later_says_when() -> None:
    response = await refused(request(), DatabaseUnavailable("gone"))

    assert response.headers["retry-after"] == "1"
    assert body_of(response)["retryable"] is True


@pytest.mark.parametrize("kind", STATUS, ids=lambda kind: kind.code)
def test_a_refusal_is_never_called_a_failure_of_the_service(kind: type[ContextError]) -> None:
    is_refusal = STATUS[kind] < HTTPStatus.INTERNAL_SERVER_ERROR

    assert is_refusal or kind in (DatabaseUnavailable, TooManyStreams)
    assert kind.__doc__
    assert not issubclass(kind, HTTPException)
