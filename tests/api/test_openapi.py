"""The OpenAPI document: complete, unambiguous, and with examples that the service takes."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest

from tests.api.client import Api, Json, assistant, succeeded, user
from tests.api.contract import DOCUMENT
from tests.api.on_one_database import ON_SQLITE
from tests.unit.compaction.summaries import SUMMARY


def operations() -> Iterator[tuple[str, str, Json]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def body_of(operation: Json) -> Json:
    content: Json = operation["requestBody"]["content"]["application/json"]
    return content


WITH_BODY = [
    pytest.param(method, path, operation, id=operation["operationId"])
    for method, path, operation in operations()
    if method in ("post", "patch")
]


def test_every_operation_has_an_id_of_its_own_and_a_summary() -> None:
    found = [operation for _, _, operation in operations()]
    ids = [operation["operationId"] for operation in found]

    assert len(set(ids)) == len(ids)
    assert all(operation["description"] for operation in found)


def test_every_success_has_a_schema() -> None:
    bare = [
        (method, path, status)
        for method, path, operation in operations()
        for status, answer in operation["responses"].items()
        if status.startswith("2") and not answer.get("content")
    ]

    assert bare == [
        ("delete", "/v1/models/{name}", "204"),
        ("delete", "/v1/models/{name}/learned", "204"),
        ("delete", "/v1/sessions/{session_id}", "204"),
    ]


def test_every_refusal_is_a_problem_with_codes() -> None:
    for _, _, operation in operations():
        for status, answer in operation["responses"].items():
            if int(status) >= HTTPStatus.BAD_REQUEST:
                schema = answer["content"]["application/problem+json"]["schema"]

                assert schema == {"$ref": "#/components/schemas/Problem"}
                assert "`" in answer["description"]


@ON_SQLITE
@pytest.mark.parametrize(("method", "path", "operation"), WITH_BODY)
async def test_the_example_of_a_body_is_taken(
    api: Api, method: str, path: str, operation: Json
) -> None:
    await create_from_example(api)
    content = body_of(operation)
    address, held = path.replace("{session_id}", "s-1"), dict[str, Any]()
    address = address.replace("{message_id}", "m0")
    if path.endswith(("/fork", "/rewind", "/compactions", "/complete", "/fail", "/visibility")):
        await fill(api)
    if "{compaction_id}" in path:
        asked = {"kind": "manual"}
        held = succeeded(await api.client.post("/v1/sessions/s-1/compactions", json=asked))
        address = address.replace("{compaction_id}", held["id"])
    claimed = {"claim": held["claim"]["token"], "summary": SUMMARY} if held else {}
    body = {name: claimed.get(name, value) for name, value in content["example"].items()}

    response = await api.client.request(method, address, json=body)

    assert response.is_success, response.text
    for schema in content["schema"].get("anyOf", [content["schema"]]):
        assert schema["$ref"].removeprefix("#/components/schemas/") in components()


async def create_from_example(api: Api) -> None:
    """The session that the examples speak of, in the version that they expect."""
    (example,) = [
        body_of(operation)["example"]
        for method, path, operation in operations()
        if (method, path) == ("post", "/v1/sessions")
    ]
    succeeded(await api.client.post("/v1/sessions", json=example))


async def fill(api: Api) -> None:
    """Two messages, for there is nothing to summarize or to go back to in an empty session."""
    two = [user("Fix the build."), assistant("Done.")]
    messages = [{"id": f"m{place}", **each} for place, each in enumerate(two)]
    succeeded(await api.client.post("/v1/sessions/s-1/messages", json={"messages": messages}))


def components() -> dict[str, Any]:
    schemas: dict[str, Any] = DOCUMENT["components"]["schemas"]
    return schemas
