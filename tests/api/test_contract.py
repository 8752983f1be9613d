"""The check that every other test leans on does find what strays from the documentation."""

import httpx
import pytest

from tests.api.contract import PROBLEM, hold_to_contract

UNKNOWN_SESSION = {
    "type": "/problems/session_not_found",
    "title": "Not Found",
    "status": 404,
    "detail": "there is no session 's'",
    "instance": "/v1/sessions/s",
    "code": "session_not_found",
    "retryable": False,
}


def answer(
    path: str, status: int, body: object, content_type: str = "application/json"
) -> httpx.Response:
    request = httpx.Request("GET", f"http://foreword.test{path}")
    headers = {"content-type": content_type}
    return httpx.Response(status, json=body, headers=headers, request=request)


@pytest.mark.parametrize(
    ("path", "status", "body", "content_type"),
    [
        ("/healthz", 200, {"status": "ok"}, "application/json"),
        ("/v1/sessions/s", 404, UNKNOWN_SESSION, PROBLEM),
        ("/v1/nothing", 404, UNKNOWN_SESSION | {"code": "not_found"}, PROBLEM),
    ],
    ids=["an answer", "a problem", "an unknown path"],
)
async def test_what_is_documented_passes(
    path: str, status: int, body: object, content_type: str
) -> None:
    await hold_to_contract(answer(path, status, body, content_type))


@pytest.mark.parametrize(
    ("path", "status", "body", "content_type"),
    [
        ("/healthz", 500, {"status": "ok"}, "application/json"),
        ("/healthz", 200, {"status": "ok"}, "text/html"),
        ("/healthz", 200, {}, "application/json"),
        ("/healthz", 200, {"status": "ok", "uptime": 3}, "application/json"),
        ("/v1/sessions/s", 404, {"code": "session_not_found"}, PROBLEM),
        ("/v1/sessions/s", 404, UNKNOWN_SESSION | {"code": "message_not_found"}, PROBLEM),
        ("/v1/nothing", 404, {"detail": "Not Found"}, "application/json"),
    ],
    ids=["status", "type", "missing field", "extra field", "no problem", "code", "unknown path"],
)
async def test_what_is_not_documented_fails(
    path: str, status: int, body: object, content_type: str
) -> None:
    with pytest.raises(AssertionError):
        await hold_to_contract(answer(path, status, body, content_type))
