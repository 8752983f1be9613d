"""The last bad-input table of docs/errors.md: what is odd but not wrong, and what is kept of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import pytest

from tests.api.bad_input import appended, created
from tests.api.client import Api, Json, message, succeeded, text_block, tool_call, user
from tests.markdown import read_page, section, table_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A request that is taken, and what is stored of it."""

    body: object
    stored: object
    """The content of each stored message, or the session's metadata."""
    repairs: list[Json]
    path: str = "/v1/sessions/s/messages"


def content(block: Json, stored: Json | None = None, role: str = "assistant") -> Taken:
    """One message of one block."""
    return Taken(body=appended(message(role, [block])), stored=[[stored or block]], repairs=[])


def opaque(payload: object) -> Json:
    return {"type": "provider_opaque", "driver": "d", "kind": "k", "payload": payload}


def nested(levels: int) -> Any:
    return [] if levels == 1 else [nested(levels - 1)]


def as_stored(call: Json) -> Json:
    """A call as its canonical bytes say it."""
    return {"type": "tool_call", "state": "finished", **call}


MENDED = {"code": "lone_surrogate_replaced"}
TWICE = b'{"messages": [{"role": "assistant", "role": "user", "content": "x"}]}'
MANY_DIGITS = int("1" * 4_000)

CASES: Mapping[str, Taken] = {
    "lone surrogate": Taken(
        body=appended(user("a\ud800b", "m1")),
        stored=[[text_block("a\ufffdb")]],
        repairs=[{**MENDED, "path": "/messages/0/content/0/text", "message_id": "m1"}],
    ),
    "lone surrogate in a key": Taken(
        path="/v1/sessions",
        body=created(metadata={"a\udc88": {"b~/": "\udc88"}}),
        stored={"a\ufffd": {"b~/": "\ufffd"}},
        repairs=[
            {**MENDED, "path": "/metadata"},
            {**MENDED, "path": "/metadata/a\ufffd/b~0~1"},
        ],
    ),
    "surrogate pair": content(text_block("\ud83c\udf78"), text_block("🍸")),
    "NUL in a text": content(text_block("a\0b")),
    "duplicate JSON key": Taken(body=TWICE, stored=[[text_block("x")]], repairs=[]),
    "same id twice, equal": Taken(
        body=appended(user("x", "m1"), user("x", "m1")), stored=[[text_block("x")]], repairs=[]
    ),
    "object as a call's input": content(
        tool_call("c1", input={"path": "a"}), as_stored(tool_call("c1", input='{"path":"a"}'))
    ),
    "empty assistant message": Taken(
        body=appended(message("assistant", [])), stored=[[]], repairs=[]
    ),
    "empty text": Taken(body=appended(message("user", "")), stored=[[text_block("")]], repairs=[]),
    "empty call id": content(tool_call(""), as_stored(tool_call(""))),
    "64 levels": content(opaque(nested(59))),
    "4 000-digit integer": content(opaque(MANY_DIGITS)),
}


@pytest.mark.parametrize("taken", CASES.values(), ids=CASES)
async def test_odd_input_is_stored_as_documented(api: Api, taken: Taken) -> None:
    session = await api.session()
    body = taken.body if isinstance(taken.body, bytes) else json.dumps(taken.body).encode()

    response = await api.client.post(taken.path, content=body)

    assert response.status_code == HTTPStatus.CREATED
    assert response.json()["repairs"] == taken.repairs
    if taken.path == "/v1/sessions":
        new = succeeded(await api.client.get("/v1/sessions/new"))
        assert new["metadata"] == taken.stored
    else:
        assert [stored["content"] for stored in await session.messages()] == taken.stored


def test_the_documentation_lists_exactly_the_odd_cases() -> None:
    rows = table_rows(section(read_page("errors.md"), "Taken as it is"))

    assert [cells[0] for cells in rows] == list(CASES)
