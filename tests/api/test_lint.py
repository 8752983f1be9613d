"""Lint over HTTP: what a provider would refuse, and what prepare never gives it."""

from http import HTTPStatus
from typing import Any

import pytest

from app.encoders.formats import ENCODERS
from tests.api.client import Api, Json, succeeded
from tests.api.on_one_database import ON_SQLITE
from tests.api.transcripts import coding_session


async def lint(api: Api, body_format: str, request: Json, **fields: Any) -> Json:
    given = {"format": body_format, "request": request, **fields}
    return succeeded(await api.client.post("/v1/lint", json=given))


@pytest.mark.parametrize("body_format", ENCODERS)
@ON_SQLITE
async def test_nothing_is_found_in_what_was_prepared(api: Api, body_format: str) -> None:
    session = await api.session()
    prepared = await session.prepare(format=body_format, append=coding_session()[:300])
    answer = await lint(api, body_format, prepared["request"])

    assert answer == {"ok": True, "findings": []}


@ON_SQLITE
async def test_a_fault_is_told_with_its_path(api: Api) -> None:
    answer = await lint(api, "anthropic.messages", {"model": "m", "messages": []})

    assert answer["ok"] is False
    assert answer["findings"] == [
        {
            "code": "missing_field",
            "severity": "error",
            "path": "max_tokens",
            "detail": "max_tokens is required",
        },
        {
            "code": "no_messages",
            "severity": "error",
            "path": "",
            "detail": "a body must have a message",
        },
    ]


async def test_limits_are_those_of_the_model_that_the_body_or_the_caller_names(api: Api) -> None:
    request = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 10_000_000,
        "messages": [{"role": "user", "content": "q"}],
    }
    named = await lint(api, "anthropic.messages", request)
    other = await lint(api, "anthropic.messages", request, model="nobody-knows")

    assert [finding["code"] for finding in named["findings"]] == ["output_limit"]
    assert other["ok"] is True


@pytest.mark.parametrize(
    "body",
    [
        {"format": "openai.chat"},
        {"format": "openai.chat", "request": []},
        {"format": "openai", "request": {}},
        {"format": "openai.chat", "request": {}, "model": ""},
    ],
)
@ON_SQLITE
async def test_what_is_no_question_is_refused(api: Api, body: Json) -> None:
    response = await api.client.post("/v1/lint", json=body)

    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


@pytest.mark.parametrize("body_format", ENCODERS)
async def test_the_next_call_of_a_session_is_looked_at_without_storing_anything(
    api: Api, body_format: str
) -> None:
    session = await api.session(agent={"system_prompt": "It is 2026-01-01T10:00:00 now."})
    await session.append(*coding_session()[:40])
    before = await session.read()
    answer = await session.read("lint", format=body_format)

    assert answer["ok"] is True
    assert [finding["code"] for finding in answer["findings"]] == ["volatile_prefix"]
    assert await session.read() == before


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("lint", {}, HTTPStatus.UNPROCESSABLE_ENTITY),
        ("lint", {"format": "neutral"}, HTTPStatus.UNPROCESSABLE_ENTITY),
        ("lint", {"format": "openai"}, HTTPStatus.UNPROCESSABLE_ENTITY),
    ],
)
@ON_SQLITE
async def test_a_session_is_looked_at_in_a_format_that_has_an_encoder(
    api: Api, path: str, query: dict[str, str], status: HTTPStatus
) -> None:
    session = await api.session()

    assert (await session.get(path, **query)).status_code == status


@ON_SQLITE
async def test_a_session_that_is_not_there_has_no_next_call(api: Api) -> None:
    response = await api.client.get("/v1/sessions/nobody/lint", params={"format": "openai.chat"})

    assert response.status_code == HTTPStatus.NOT_FOUND
