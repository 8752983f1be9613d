"""A session that is prepared again and again, with every answer worked out independently."""

import json
from http import HTTPStatus

from tests.api.client import Json, SessionApi
from tests.api.contract import NDJSON
from tests.api.requests import (
    Read,
    badly_paired,
    budget_of,
    chain_of,
    common_of,
    read_request,
    segments_of,
    tokenizer_tokens_of,
)

KEPT_EVERY = 40
"""Prepares after which a request is kept, to be asked for again in every other way."""

MARKER = "\\n... [tool result pruned: "
"""What stands in JSON where the middle of an old result was left out."""


class Follower:
    """Prepares one session and compares what each answer says with the request it came with."""

    def __init__(self, session: SessionApi) -> None:
        self._session = session
        self._before: Read | None = None
        self._kept: dict[str, str] = {}
        self.count = 0
        self.causes: list[str] = []
        """Why a request did not repeat all of the one before, in order."""

    async def prepare(self, *append: Json) -> Read:
        """The next request."""
        answer, text = await prepared_lines(self._session, append)
        request = read_request(text, self._before)

        assert badly_paired([element.message for element in request.elements]) == []
        check_budget(request, answer)
        self._check_prefix(request, answer["prefix"])
        if self.count % KEPT_EVERY == 0:
            self._kept[answer["prepared_id"]] = text
            await self.check_preview(request)
        self._before = request
        self.count += 1
        return request

    def _check_prefix(self, request: Read, prefix: Json) -> None:
        before = self._before
        common = 0 if before is None else common_of(before, request)
        is_whole = before is None or common == len(before.elements)

        assert prefix == {
            "chain": chain_of([element.digest for element in request.elements]),
            "common_messages": common,
            "common_bytes": sum(element.size_bytes for element in request.elements[:common]),
            "broken_at": None if is_whole else common,
            "cause": prefix["cause"],
            "segments": segments_of(request),
        }
        assert (prefix["cause"] is None) == is_whole
        if before is not None and not is_whole:
            if prefix["cause"] == "prune":
                check_pruned(before, request)
            else:
                check_replaced(before, request, common)
            self.causes.append(prefix["cause"])

    async def check_preview(self, request: Read) -> None:
        """The preview shows the same bytes, with other fields beside them."""
        preview = (await self._session.get("context")).text
        position = 0
        for element in request.elements:
            shown = element.text.removeprefix('{"role":"system",').removeprefix("{")
            position = preview.index(shown, position) + len(shown)
        document = json.loads(preview)

        assert len(document["system_context"]) == len(request.system)
        assert len(document["conversation"]) == len(request.conversation)
        assert document["tool_surface"] == list(request.tools)

    async def check_kept(self) -> None:
        """Requests that were prepared before are still what they were, byte for byte."""
        for prepared_id, text in self._kept.items():
            response = await self._session.get(f"prepared/{prepared_id}")

            assert response.text == text


async def prepared_lines(session: SessionApi, append: tuple[Json, ...]) -> tuple[Json, str]:
    """What is told of a prepared call, and the exact text of its request."""
    response = await session.client.post(
        f"/v1/sessions/{session.id}/prepare", json={"append": append}, headers={"Accept": NDJSON}
    )
    assert response.status_code == HTTPStatus.OK, response.text[:1000]
    told, request, rest = response.text.split("\n")
    assert rest == ""
    answer: Json = json.loads(told)
    return answer, request


def check_budget(request: Read, answer: Json) -> None:
    """The budget, the limits and the decision are those of this very request."""
    budget, decision, measured = answer["budget"], answer["decision"], budget_of(request)
    used = measured["estimated_input_tokens"] + budget["reserved_output_tokens"]
    over = used >= answer["limits"]["auto_compact_token_limit"]

    assert {name: budget[name] for name in measured} == measured
    assert budget["counts"]["tokenizer"] == tokenizer_tokens_of(request)
    assert decision["measured_tokens"] == used
    assert decision["action"] == ("compact" if over else "submit")


def check_pruned(before: Read, after: Read) -> None:
    """Where the watermark moved, old results are shorter and nothing else is another."""
    pairs = zip(before.elements, after.elements, strict=False)
    shortened = [(old, new) for old, new in pairs if old.text != new.text]

    assert all(MARKER in new.text and MARKER not in old.text for old, new in shortened)
    assert all(new.size_bytes < old.size_bytes for old, new in shortened)


def check_replaced(before: Read, after: Read, index: int) -> None:
    """Where two requests part, a real result stands instead of the one that was made for it."""
    (made,) = before.elements[index].message["content"]
    (real,) = after.elements[index].message["content"]

    assert made["state"] == "interrupted"
    assert real["state"] != "interrupted"
    assert made["id"] == real["id"]
