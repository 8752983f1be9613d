"""The calls of a compaction as a worker makes them, on a service whose clock a test turns."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import count
from typing import Any

import httpx
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from tests.api.client import Api, Json, SessionApi, succeeded
from tests.api.contract import hold_to_contract
from tests.unit.compaction.summaries import SUMMARY, rooted, sections

LINE: Json = {"name": "model-a", "context_window": 4_000, "max_output_tokens": 400}
"""Effective input 3 600, line 3 060: an input of 2 660 tokens, 10 640 bytes, is at it."""
LONG = "long " * 2_400
"""A text of 3 000 tokens: over the line of `LINE` by itself."""
POINT: Json = {"turn_id": "t", "model_call": 1}
CLAIM_SECONDS = 180
_NUMBERS = count(1)


def summary_of(topic: str) -> str:
    """A summary that is accepted; summaries of other topics are other summaries."""
    return rooted(*sections(lines=(f"The user asked for {topic} and wants every test green.",)))


@dataclass(slots=True, kw_only=True)
class Clock:
    """The service's time, which stands still until a test turns it."""

    moment: datetime = field(default=datetime(2026, 1, 1, tzinfo=UTC))

    def now(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A service and its clock."""

    api: Api
    clock: Clock
    app: FastAPI

    async def session(self, **fields: Any) -> SessionApi:
        """A new session; its id is one that no other test has."""
        return await self.api.session(f"s-{next(_NUMBERS)}", **fields)


@asynccontextmanager
async def timed_service(database_url: str, **replaced: Any) -> AsyncIterator[Timed]:
    """A service that reads the time of a clock; `replaced` are resources of its own."""
    app = create_app(Settings(database_url=database_url, claim_seconds=CLAIM_SECONDS))
    clock = Clock()
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app),
            base_url="http://foreword.test",
            event_hooks={"response": [hold_to_contract]},
        ) as client,
    ):
        app.state.resources = replace(app.state.resources, now=clock.now, **replaced)
        yield Timed(api=Api(client=client), clock=clock, app=app)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A compaction in the hands of the worker that claimed it."""

    session: SessionApi
    answer: Json
    """To the request that claimed it."""

    @property
    def id(self) -> str:
        compaction_id: str = self.answer["id"]
        return compaction_id

    @property
    def token(self) -> str:
        token: str = self.answer["claim"]["token"]
        return token

    async def complete(
        self, summary: str = SUMMARY, attempt: int = 1, **fields: Any
    ) -> httpx.Response:
        body = {"claim": self.token, "attempt": attempt, "summary": summary, **fields}
        return await self.session.post(f"compactions/{self.id}/complete", body)

    async def fail(self, error: str, attempt: int = 1, **fields: Any) -> httpx.Response:
        body = {"claim": self.token, "attempt": attempt, "error": error, **fields}
        return await self.session.post(f"compactions/{self.id}/fail", body)

    async def read(self, **query: Any) -> Json:
        return await self.session.read(f"compactions/{self.id}", **query)


async def request_compaction(
    session: SessionApi, key: str | None = None, **body: Any
) -> httpx.Response:
    """Ask for a compaction, a manual one unless the body says otherwise."""
    headers = {} if key is None else {"Idempotency-Key": key}
    path = f"/v1/sessions/{session.id}/compactions"
    return await session.client.post(path, json={"kind": "manual", **body}, headers=headers)


async def start(session: SessionApi, key: str | None = None, **body: Any) -> Held:
    """Claim a new compaction."""
    response = await request_compaction(session, key, **body)
    assert response.status_code == HTTPStatus.CREATED, response.text[:1000]
    return Held(session=session, answer=response.json())


async def compact(session: SessionApi, summary: str = SUMMARY, **body: Any) -> Json:
    """A compaction from its request to its checkpoint."""
    held = await start(session, **body)
    answer = succeeded(await held.complete(summary))
    assert answer["status"] == "completed", answer
    return answer


async def put_turn(
    session: SessionApi, turn_id: str = "t", status: str = "running", **fields: Any
) -> httpx.Response:
    path = f"/v1/sessions/{session.id}/turns/{turn_id}"
    return await session.client.put(path, json={"status": status, **fields})


async def run_turn(session: SessionApi, turn_id: str = "t", **fields: Any) -> Json:
    """Begin a turn, or renew its lease."""
    return succeeded(await put_turn(session, turn_id, **fields))


def refusal(response: httpx.Response) -> tuple[int, str]:
    """Status and code of a problem."""
    return response.status_code, response.json()["code"]


def texts(request: Json) -> list[str]:
    """The texts of a request's messages after the system messages, one per message."""
    return [
        "".join(block["text"] for block in message["content"] if block["type"] == "text")
        for message in request["messages"]
        if message["role"] != "system"
    ]


def reasons(prepared: Json) -> list[str]:
    """Where each message of a prepared call comes from, by its id or its reason."""
    return [entry.get("message_id") or entry["reason"] for entry in prepared["provenance"]]


AFTER_FOLD = ["last_user_request_replay", "compaction_summary", "system_reminder"]
"""What every request begins with once a compaction is installed."""
