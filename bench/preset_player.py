"""A worker that plays a transcript in one session, against a provider that is simulated.

The provider counts what it is sent, refuses what its window does not hold,
and reports the rest; its answers are the transcript's.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import Any, TypeAlias

import httpx

from app.policies.folding import StyleName
from bench.canned import canned_summary
from tests.api.requests import badly_paired

Json: TypeAlias = dict[str, Any]

MODEL = "simulated"
PROVIDER_FACTOR = 1.2
"""Tokens of the provider for each of ours: about what the transcript's own reports say
(docs/semantics/calibration.md#figures)."""
MOST_STEPS = 6
"""Of one model call: a prepare, an overflow, a compaction and so on. More would go on for ever."""

_REPORTED = ("observed_usage", "stop_reason")
_NDJSON = {"Accept": "application/x-ndjson"}


class Refused(Exception):
    """The service did not answer as a worker needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A compaction: why, and the input of the call in front of it and behind it."""

    kind: str
    before_tokens: int
    after_tokens: int


@dataclass(slots=True, kw_only=True)
class Played:
    """What was seen in a session. Tokens are the provider's."""

    model_calls: int = 0
    requests: int = 0
    """All that were prepared: also those in front of a compaction, which were not sent."""
    folds: list[Fold] = field(default_factory=list)
    background: int = 0
    """Compactions beside the calls."""
    broken_bytes: int = 0
    """Of the messages of each request that the next one did not repeat."""
    breaks: dict[str, int] = field(default_factory=dict)
    """How often a request did not repeat the one before, by cause."""
    largest_sent_tokens: int = 0
    invalid: list[str] = field(default_factory=list)
    without_request: int = 0
    """Requests that do not hold what the user asked for last."""


def provider_tokens(prepared: Json) -> int:
    """What the provider counts of a prepared request."""
    tokens: int = prepared["budget"]["counts"]["tokenizer"]
    return round(PROVIDER_FACTOR * tokens)


class Player:
    """Plays the turns of a transcript in a session that exists."""

    def __init__(
        self, client: httpx.AsyncClient, session_id: str, style: StyleName, window_tokens: int
    ) -> None:
        self._client = client
        self._path = f"/v1/sessions/{session_id}"
        self._style = style
        self._window_tokens = window_tokens
        self._last_request: Json = {}
        self._last_bytes = 0
        self._summaries = count(1)
        self._played = Played()

    async def play(self, messages: Sequence[Json]) -> Played:
        """All messages, in turns that begin with the user's."""
        for number, turn in enumerate(turns(messages), start=1):
            await self._play_turn(f"turn-{number}", turn)
        return self._played

    async def _play_turn(self, turn_id: str, messages: Sequence[Json]) -> None:
        await self._send("PUT", f"turns/{turn_id}", {"status": "running"})
        model_calls = count(1)
        pending: list[Json] = []
        for line in messages:
            message = {**_without(line, _REPORTED), "turn_id": turn_id}
            if message["role"] != "assistant":
                pending.append(message)
                continue
            point = {"turn_id": turn_id, "model_call": next(model_calls)}
            prepared = await self._call_model(point, pending)
            pending = []
            usage = _usage(line, prepared, point)
            await self._send("POST", "messages", {"messages": [message], **usage})
            await self._compact_beside(point, prepared["decision"]["background"])
        if pending:
            await self._send("POST", "messages", {"messages": pending})
        await self._send("PUT", f"turns/{turn_id}", {"status": "completed"})

    async def _call_model(self, point: Json, append: Sequence[Json]) -> Json:
        """The request that the provider took."""
        self._played.model_calls += 1
        requests = [message for message in append if message["role"] == "user"]
        self._last_request = requests[-1] if requests else self._last_request
        prepared = await self._prepare({**point, "append": append})
        for _ in range(MOST_STEPS):
            if prepared["decision"]["action"] == "compact":
                prepared = await self._compact(point, prepared)
            elif prepared["decision"]["action"] != "submit":
                break
            elif provider_tokens(prepared) > self._window_tokens:
                refused = {"error": "context_overflow", "delivery": "not_sent"}
                named = {"prepared_id": prepared["prepared_id"], **refused}
                prepared = await self._prepare({**point, "recover_from": named})
            else:
                sent = provider_tokens(prepared)
                self._played.largest_sent_tokens = max(self._played.largest_sent_tokens, sent)
                return prepared
        raise Refused(f"{self._path} at {point}: {prepared['decision']}")

    async def _compact(self, point: Json, prepared: Json) -> Json:
        """The call prepared anew behind a compaction."""
        kind = prepared["decision"]["compaction"]["kind"]
        held = await self._send("POST", "compactions", {"kind": kind, **point})
        answer = await self._complete(held)
        if answer["status"] != "completed":
            raise Refused(f"{self._path} at {point}: {answer}")
        after = await self._prepare(point)
        fold = Fold(
            kind=kind,
            before_tokens=provider_tokens(prepared),
            after_tokens=provider_tokens(after),
        )
        self._played.folds.append(fold)
        return after

    async def _compact_beside(self, point: Json, offers: Sequence[Json]) -> None:
        """Take up what may run meanwhile."""
        for offer in offers:
            held = await self._send("POST", "compactions", {"kind": offer["kind"], **point})
            if held["claim"] is not None:
                await self._complete(held)
                self._played.background += 1

    async def _complete(self, held: Json) -> Json:
        """Give the summary that a compaction asks for, or one for each of its tool pairs."""
        named = {"claim": held["claim"]["token"], "attempt": held["attempt"]}
        path = f"compactions/{held['id']}/complete"
        if held["kind"] == "tool_pairs":
            pairs = [
                {"call_ids": pair["call_ids"], "summary": "A tool was asked, and it answered."}
                for pair in held["pairs"]
            ]
            return await self._send("POST", path, {**named, "pairs": pairs})
        summary = canned_summary(self._style, next(self._summaries))
        return await self._send("POST", path, {**named, "summary": summary})

    async def _prepare(self, body: Json) -> Json:
        response = await self._client.post(f"{self._path}/prepare", json=body, headers=_NDJSON)
        if response.status_code != HTTPStatus.OK:
            raise Refused(response.text[:1_000])
        about, request, _ = response.text.split("\n")
        prepared: Json = json.loads(about)
        self._look_at(json.loads(request)["messages"])
        self._measure(prepared["prefix"])
        return prepared

    def _look_at(self, messages: Sequence[Json]) -> None:
        self._played.requests += 1
        faults = badly_paired(messages)
        if faults:
            self._played.invalid.append(f"request {self._played.requests}: {faults[0]}")
        if not any(_holds(message, self._last_request) for message in messages):
            self._played.without_request += 1

    def _measure(self, prefix: Json) -> None:
        if prefix["broken_at"] is not None:
            self._played.broken_bytes += self._last_bytes - prefix["common_bytes"]
            breaks, cause = self._played.breaks, prefix["cause"]
            breaks[cause] = breaks.get(cause, 0) + 1
        sizes = {segment["name"]: segment["bytes"] for segment in prefix["segments"]}
        self._last_bytes = sizes["system"] + sizes["messages"]

    async def _send(self, method: str, path: str, body: Json) -> Json:
        response = await self._client.request(method, f"{self._path}/{path}", json=body)
        if response.status_code not in (HTTPStatus.OK, HTTPStatus.CREATED):
            raise Refused(f"{method} {path}: {response.text[:1_000]}")
        answer: Json = response.json()
        return answer


def turns(messages: Sequence[Json]) -> list[list[Json]]:
    """The messages from each of the user's to before the next."""
    grouped: list[list[Json]] = []
    for message in messages:
        if message["role"] == "user":
            grouped.append([])
        grouped[-1].append(message)
    return grouped


def _usage(line: Json, prepared: Json, point: Json) -> Json:
    """The report of a call: output as the transcript has it, input as the provider counts."""
    observed = line.get("observed_usage")
    if not observed:
        return {}
    report = {
        "model": MODEL,
        "prepared_id": prepared["prepared_id"],
        "input_tokens": provider_tokens(prepared),
        "output_tokens": observed["output_tokens"],
    }
    return {"usage": {**point, **report}}


def _holds(message: Json, request: Json) -> bool:
    """Whether a message says all that was asked for."""
    said = message["content"]
    return message["role"] == "user" and all(block in said for block in request["content"])


def _without(line: Json, names: Sequence[str]) -> Json:
    return {name: value for name, value in line.items() if name not in names}
