"""The service in this process, and a session of it as tests talk to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeAlias

import httpx

from app.main import create_app
from app.settings import Settings
from tests.api.contract import hold_to_contract

Json: TypeAlias = dict[str, Any]

PROFILE: Json = {"name": "model-a", "context_window": 200_000, "max_output_tokens": 32_000}
AGENT: Json = {"system_prompt": "You fix bugs."}


@asynccontextmanager
async def service(database_url: str, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service that runs on a database; every response is held to the contract."""
    app = create_app(Settings(database_url=database_url, **settings))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://foreword.test",
            event_hooks={"response": [hold_to_contract]},
        ) as client,
    ):
        yield client


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionApi:
    """One session over HTTP. `post` and `get` give whatever came; the others expect success."""

    client: httpx.AsyncClient
    id: str
    created: Json
    """The answer to its creation."""

    async def post(self, path: str, body: object) -> httpx.Response:
        return await self.client.post(f"/v1/sessions/{self.id}/{path}", json=body)

    async def get(self, path: str = "", **query: Any) -> httpx.Response:
        address = f"/v1/sessions/{self.id}/{path}".removesuffix("/")
        return await self.client.get(address, params=query)

    async def read(self, path: str = "", **query: Any) -> Json:
        return succeeded(await self.get(path, **query))

    async def append(self, *messages: Json, **fields: Any) -> Json:
        return succeeded(await self.post("messages", {"messages": messages, **fields}))

    async def prepare(self, **body: Any) -> Json:
        return succeeded(await self.post("prepare", body))

    async def sample(self, capture: Json, **fields: Any) -> Json:
        point = {"turn_id": "t", "model_call": 1, "sample": 1}
        body = {**point, "capture": capture, **fields}
        return succeeded(await self.post("world-state", body))

    async def messages(self) -> list[Json]:
        """All stored messages in order."""
        items: list[Json] = []
        while True:
            after = items[-1]["sequence"] if items else 0
            page = await self.read("messages", limit=500, after_sequence=after)
            items += page["items"]
            if page["next_cursor"] is None:
                return items


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The service over HTTP."""

    client: httpx.AsyncClient

    async def session(self, session_id: str = "s", **fields: Any) -> SessionApi:
        """A new session of a model that is known and an agent without tools."""
        defaults = {"model": "model-a", "model_profile": PROFILE, "agent": AGENT}
        body = {"id": session_id, **defaults, **fields}
        created = succeeded(await self.client.post("/v1/sessions", json=body))
        return SessionApi(client=self.client, id=session_id, created=created)


def succeeded(response: httpx.Response) -> Json:
    """The body of a response that is a success."""
    assert response.status_code in (HTTPStatus.OK, HTTPStatus.CREATED), response.text[:1000]
    body: Json = response.json()
    return body


def watermark(through_sequence: int | None, **counts: int) -> Json:
    """What an answer says of the watermark; what is not named was left alone."""
    nothing = {"tool_results": 0, "arguments": 0, "thinking": 0, "references": 0}
    return {"through_sequence": through_sequence, **nothing, **counts}


def user(text: str, message_id: str | None = None, **fields: Any) -> Json:
    """What the user says."""
    return message("user", [text_block(text)], message_id, **fields)


def assistant(text: str, message_id: str | None = None, **fields: Any) -> Json:
    """What the model says."""
    return message("assistant", [text_block(text)], message_id, **fields)


def calls(*call_ids: str, message_id: str | None = None, **fields: Any) -> Json:
    """What the model asks for: a call of `read` per id."""
    return message("assistant", [tool_call(id_) for id_ in call_ids], message_id, **fields)


def results(*call_ids: str, message_id: str | None = None, **fields: Any) -> Json:
    """A tool message with a result per id."""
    return message("tool", [tool_result(id_) for id_ in call_ids], message_id, **fields)


def message(role: str, content: object, message_id: str | None = None, **fields: Any) -> Json:
    """A message of any role."""
    given = {} if message_id is None else {"id": message_id}
    return {**given, "role": role, "content": content, **fields}


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def tool_call(call_id: str, **fields: Any) -> Json:
    return {"type": "tool_call", "id": call_id, "name": "read", "input": "{}", **fields}


def tool_result(call_id: str, text: str = "done", **fields: Any) -> Json:
    return {"type": "tool_result", "id": call_id, "output": [text_block(text)], **fields}
