"""A worker that plays a transcript: it prepares, compacts when told to, and checks every request.

What it expects is worked out from the transcript and from the bytes of the requests alone.
"""

import json
from collections.abc import Sequence
from http import HTTPStatus
from itertools import count
from typing import Any

from app.compaction.openwork_items import SUMMARY_FRAME
from app.world_state.sections import BUILT_IN
from tests.api.captures import WHOLE, told
from tests.api.client import Json, SessionApi, succeeded
from tests.api.compacting import run_turn, start, summary_of
from tests.api.contract import NDJSON
from tests.api.requests import (
    Element,
    Read,
    badly_paired,
    budget_of,
    common_of,
    compact,
    read_request,
    segments_of,
    tokenizer_tokens_of,
    tokens,
)

REMINDER = '<system_reminder format_version="1">\n'
SECTION_IDS = [section.id for section in BUILT_IN]


class Player:
    """Plays the turns of a transcript in one session, under a capture that never changes."""

    def __init__(self, session: SessionApi) -> None:
        self._session = session
        self._appended: list[Json] = []
        """Every message of the transcript that was appended, as it must be stored."""
        self._before: Read | None = None
        self._segments: list[Json] = []
        self._shown_from = 0
        """How many messages are covered by the latest compaction."""
        self.receipts: list[Json] = []
        """The answers to the summaries, in order."""
        self.causes: list[str] = []
        """Why requests did not begin with the one before, in order."""

    async def play(self, turn_id: str, messages: Sequence[Json]) -> None:
        """One turn: a model call in front of every message of the model."""
        await run_turn(self._session, turn_id)
        model_calls = count(1)
        pending: list[Json] = []
        for message in messages:
            if message["role"] == "assistant":
                await self._call_model(turn_id, next(model_calls), pending)
                pending = []
            pending.append(message)
        await self._session.append(*pending)
        self._keep(pending)
        path = f"/v1/sessions/{self._session.id}/turns/{turn_id}"
        succeeded(await self._session.client.put(path, json={"status": "completed"}))

    async def _call_model(self, turn_id: str, model_call: int, append: Sequence[Json]) -> None:
        point = {"turn_id": turn_id, "model_call": model_call}
        is_first = self._before is None
        self._keep(append)
        capture = {"world_state": WHOLE} if model_call == 1 else {}
        answer = await self._prepare(**point, sample=1, append=append, **capture)
        if answer["decision"]["action"] == "compact":
            await self._compact(point)
            answer = await self._prepare(**point, sample=2, world_state=WHOLE)
            front = self._conversation[:3]

            assert self.receipts[-1]["tokens"]["after"] == tokens_of(front)
            assert answer["prefix"]["cause"] == "compaction"
            assert [message["id"] for message in answer["world_state"]["emitted"]] == [
                f"world-state:{turn_id}:{model_call}:2:{section_id}" for section_id in SECTION_IDS
            ]
            assert all(text.startswith("<") for text in told(answer["world_state"]))
        elif not is_first:
            assert answer["world_state"]["emitted"] == []
        assert answer["decision"]["action"] == "submit", answer["decision"]

    @property
    def _conversation(self) -> tuple[Element, ...]:
        """Of the latest request."""
        return () if self._before is None else self._before.conversation

    async def _compact(self, point: Json) -> None:
        """Compact inside the turn, with a summary that nobody gave before."""
        held = await start(self._session, kind="threshold", **point)
        answer = succeeded(await held.complete(summary_of(f"part {len(self.receipts) + 1}")))
        stored = await self._session.messages()

        assert answer["status"] == "completed"
        assert answer["checkpoint"]["through_sequence"] == len(stored)
        assert answer["tokens"]["before"] == tokens(self._shown_bytes(stored))
        self._check_stored(stored, held.id)
        self.receipts.append(answer)
        self._shown_from = len(stored)

    def _shown_bytes(self, stored: Sequence[Json]) -> int:
        """JSON bytes of the conversation as it is: the items in front, and what came later."""
        front = self._conversation[:3] if self.receipts else ()
        rows = [counted_bytes(message["content"]) for message in stored[self._shown_from :]]
        return sum(rows) + sum(element.counted_bytes for element in front)

    def _check_stored(self, stored: Sequence[Json], compaction_id: str) -> None:
        """What was appended is stored byte for byte, and all of it is covered now."""
        kept = [message for message in stored if message["kind"] != "world_state"]

        assert [compact(message["content"]) for message in kept] == [
            compact(message["content"]) for message in self._appended
        ]
        assert [message["id"] for message in kept] == [message["id"] for message in self._appended]
        assert {message["covered_by"] for message in stored} == {compaction_id}

    async def _prepare(self, **body: Any) -> Json:
        answer, text = await self._lines(body)
        request = read_request(text, self._before)
        self._check(request, answer)
        self._before = request
        return answer

    async def _lines(self, body: Json) -> tuple[Json, str]:
        path = f"/v1/sessions/{self._session.id}/prepare"
        response = await self._session.client.post(path, json=body, headers={"Accept": NDJSON})
        assert response.status_code == HTTPStatus.OK, response.text[:1000]
        about, request, _ = response.text.split("\n")
        answer: Json = json.loads(about)
        return answer, request

    def _check(self, request: Read, answer: Json) -> None:
        """Well paired, the user's request verbatim, one of every kind, and honest numbers."""
        assert badly_paired([element.message for element in request.elements]) == []
        assert self._last_request() in [element.message for element in request.conversation]
        assert summaries_of(request) == min(1, len(self.receipts))
        assert reminders_of(request) == min(1, len(self.receipts))
        assert sections_of(request) == SECTION_IDS
        self._check_numbers(request, answer)
        self._check_prefix(request, answer["prefix"])

    def _check_numbers(self, request: Read, answer: Json) -> None:
        measured = budget_of(request)

        assert {name: answer["budget"][name] for name in measured} == measured
        assert answer["budget"]["counts"]["tokenizer"] == tokenizer_tokens_of(request)

    def _check_prefix(self, request: Read, prefix: Json) -> None:
        segments = segments_of(request)
        if self._before is None:
            self._segments = segments[:2]
        elif prefix["cause"] is not None:
            self.causes.append(prefix["cause"])
        common = 0 if self._before is None else common_of(self._before, request)

        assert prefix["segments"] == segments
        assert segments[:2] == self._segments, "the system or tool bytes are others"
        assert prefix["common_messages"] == common
        assert prefix["broken_at"] == (None if prefix["cause"] is None else common)

    def _last_request(self) -> Json:
        requests = (message for message in reversed(self._appended) if message["role"] == "user")
        return {"role": "user", "content": next(requests)["content"]}

    def _keep(self, messages: Sequence[Json]) -> None:
        names = {
            block["id"]: block["name"]
            for message in messages
            for block in message["content"]
            if block["type"] == "tool_call"
        }
        for message in messages:
            content = [as_stored(block, names) for block in message["content"]]
            self._appended.append({**message, "content": content})


def as_stored(block: Json, names: dict[str, str]) -> Json:
    """A block in the order of the contract's table, with its defaults written out."""
    match block:
        case {"type": "tool_call"}:
            fields = {**block, "state": block.get("state", "finished")}
            return {key: fields[key] for key in ("type", "id", "name", "input", "state")}
        case {"type": "tool_result"}:
            named = {"name": block.get("name") or names[block["id"]]}
            fields = {"state": "success", **block, **named}
            order = ("type", "id", "name", "output", "state", "artifacts")
            return {key: fields[key] for key in order if key in fields}
        case _:
            return block


def counted_bytes(content: Sequence[Json]) -> int:
    """JSON bytes of content without artifacts."""
    return len(compact([{k: v for k, v in block.items() if k != "artifacts"} for block in content]))


def tokens_of(elements: Sequence[Element]) -> int:
    """Tokens of messages as the budget counts them."""
    return tokens(sum(element.counted_bytes for element in elements))


def summaries_of(request: Read) -> int:
    """How many messages of a request are summaries."""
    return sum(text.startswith(SUMMARY_FRAME) for text in first_texts(request.conversation))


def reminders_of(request: Read) -> int:
    """How many messages of a request are reminders."""
    return sum(text.startswith(REMINDER) for text in first_texts(request.conversation))


def sections_of(request: Read) -> list[str]:
    """The world-state sections that a request tells, in order."""
    return [
        section.id
        for text in first_texts(request.conversation)
        for section in BUILT_IN
        if text.startswith(section.open_tag)
    ]


def first_texts(elements: Sequence[Element]) -> list[str]:
    """The first text of every user message."""
    blocks = [e.message["content"][0] for e in elements if e.message["role"] == "user"]
    return [block["text"] for block in blocks if block["type"] == "text"]
