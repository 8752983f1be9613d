"""Asks an OpenAI-compatible endpoint for a summary: one call is one attempt.

It never raises over what an endpoint does, and writes no log: neither
messages nor keys can get into one.

Source: docs/semantics/compaction.md#the-services-own-summarizer.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Self

import httpx

from app.summarizer.answers import SummaryAnswer, SummaryFailure
from app.summarizer.chat_request import LimitField, chat_request
from app.summarizer.completion import StreamedCompletion, WholeCompletion
from app.summarizer.reading import json_object
from app.summarizer.refusals import Refusal

CONNECT_SECONDS = 10.0
"""An endpoint that takes longer to accept a connection is not there."""
MAX_RESPONSE_BYTES = 32 * 1024 * 1024
"""Of a stream: 16 384 tokens in events of their own are about 5 MiB, and a model may reason first.
It is what a worker may send as well."""
MAX_REFUSAL_BYTES = 64 * 1024
"""Of a refusal: its codes are in its first lines."""

TOO_LONG = SummaryFailure(error="deterministic", detail="the response was longer than it may be")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where summaries are asked for, and how long an attempt may take."""

    url: str
    """What stands before `/chat/completions`."""
    key: str | None = field(repr=False)
    model: str | None
    """In place of the session's own model."""
    timeout_seconds: float
    connect_seconds: float = CONNECT_SECONDS
    max_response_bytes: int = MAX_RESPONSE_BYTES


class Summarizer:
    """A client of one endpoint; its connections are closed with it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._url = f"{endpoint.url.rstrip('/')}/chat/completions"
        headers = {"content-type": "application/json"}
        if endpoint.key is not None:
            headers["authorization"] = f"Bearer {endpoint.key}"
        self._client = httpx.AsyncClient(
            headers=headers, timeout=httpx.Timeout(None, connect=endpoint.connect_seconds)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._client.aclose()

    async def summarize(self, request: bytes) -> SummaryAnswer:
        """The answer to a neutral summary request, within the endpoint's timeout."""
        seconds = self._endpoint.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._answer(request)
        except TimeoutError:
            detail = f"compaction summary attempt timed out after {seconds:g} seconds"
            return SummaryFailure(error="timeout", detail=detail)
        except httpx.ConnectTimeout:
            return SummaryFailure(error="timeout", detail="the endpoint accepted no connection")
        except httpx.RequestError as error:
            detail = f"the connection failed ({type(error).__name__})"
            return SummaryFailure(error="transient", detail=detail)

    async def _answer(self, request: bytes) -> SummaryAnswer:
        outcome = await self._sent(request, "max_tokens")
        if isinstance(outcome, Refusal) and outcome.wants_other_limit:
            outcome = await self._sent(request, "max_completion_tokens")
        return outcome.failure() if isinstance(outcome, Refusal) else outcome

    async def _sent(self, request: bytes, limit_field: LimitField) -> SummaryAnswer | Refusal:
        # A conversation of megabytes takes too long to map between two other requests.
        body = await asyncio.to_thread(chat_request, request, self._endpoint.model, limit_field)
        async with self._client.stream("POST", self._url, content=body) as response:
            if response.is_success:
                return await self._completion(response)
            return Refusal(
                status=response.status_code, body=json_object(await _beginning(response)) or {}
            )

    async def _completion(self, response: httpx.Response) -> SummaryAnswer:
        media_type = response.headers.get("content-type", "").partition(";")[0].strip()
        completion = WholeCompletion() if media_type == "application/json" else StreamedCompletion()
        taken = 0
        async for data in response.aiter_bytes():
            taken += len(data)
            if taken > self._endpoint.max_response_bytes:
                return TOO_LONG
            answer = completion.feed(data)
            if answer is not None:
                return answer
        return completion.end()


async def _beginning(response: httpx.Response) -> bytes:
    """The first bytes of a body, as many as a refusal needs."""
    beginning = b""
    async for data in response.aiter_bytes():
        beginning += data
        if len(beginning) > MAX_REFUSAL_BYTES:
            break
    return beginning[:MAX_REFUSAL_BYTES]
