"""The service about itself: what it can do, whether it lives, and how it fails."""

from http import HTTPStatus
from pathlib import Path

import httpx
from fastapi import FastAPI

from app.api import problems
from app.encoders.formats import ENCODERS
from tests.api.client import Api, service, succeeded
from tests.api.contract import DOCUMENT
from tests.api.on_one_database import ON_SQLITE


@ON_SQLITE
async def test_the_index_tells_what_there_is_and_nothing_else(api: Api) -> None:
    assert succeeded(await api.client.get("/v1")) == {
        "name": "foreword",
        "version": "0.1.0",
        "formats": ["neutral", *ENCODERS],
        "presets": ["awaken", "calibrated", "codex", "goose", "openwork"],
        "encodings": ["cl100k_base", "o200k_base"],
        "limits": {
            "body_bytes": 33_554_432,
            "message_bytes": 16_777_216,
            "messages_per_append": 1_000,
            "json_depth": 64,
            "page_items": 500,
        },
        "features": [
            *("sessions", "turns", "messages", "world_state", "prepare", "context", "prepared"),
            *("compactions", "usage", "rewind", "fork", "history", "replay", "events"),
            *("models", "stateless", "formats", "lint", "import"),
        ],
    }


async def test_a_migrated_service_lives_and_is_ready(api: Api) -> None:
    for path in ("/healthz", "/readyz"):
        assert succeeded(await api.client.get(path)) == {"status": "ok"}


async def test_a_service_without_a_schema_lives_and_is_not_ready(tmp_path: Path) -> None:
    async with service(f"sqlite:///{tmp_path}/empty.db") as client:
        health = await client.get("/healthz")
        readiness = await client.get("/readyz")
        append = await client.post(
            "/v1/sessions/s/messages", json={"messages": [{"role": "user", "content": "x"}]}
        )

    assert health.status_code == HTTPStatus.OK
    for refused in (readiness, append):
        assert refused.status_code == HTTPStatus.SERVICE_UNAVAILABLE
        assert (refused.json()["code"], refused.json()["retryable"]) == (
            "database_unavailable",
            True,
        )
        assert refused.headers["retry-after"] == "1"


async def test_a_failure_of_the_service_is_a_problem_that_tells_nothing() -> None:
    app = FastAPI()
    problems.install(app)

    @app.get("/fails")
    async def fails() -> None:
        raise RuntimeError("a secret")

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://foreword.test") as client:
        response = await client.get("/fails")

    assert response.headers["content-type"] == "application/problem+json"
    assert response.json() == {
        "type": "/problems/internal_error",
        "title": "Internal Server Error",
        "status": 500,
        "detail": "the service failed; nothing was stored",
        "instance": "/fails",
        "code": "internal_error",
        "retryable": False,
    }


@ON_SQLITE
async def test_the_documentation_is_served(api: Api) -> None:
    # These pages are about the contract and no part of it.
    api.client.event_hooks = {"response": []}

    assert (await api.client.get("/openapi.json")).json() == DOCUMENT
    assert (await api.client.get("/docs")).status_code == HTTPStatus.OK
