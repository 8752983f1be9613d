"""Prepare in a provider's format: the body to post, and everything that is told of it."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import pytest

from app.encoders.formats import ENCODERS
from tests.api.client import (
    PROFILE,
    Api,
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    service,
    succeeded,
    text_block,
    tool_call,
    tool_result,
    user,
)
from tests.api.compacting import compact
from tests.api.on_one_database import ON_SQLITE
from tests.api.transcripts import coding_session

FORMATS = pytest.mark.parametrize("body_format", ENCODERS)
LONG_ID = "call_PTLP8xhu3uwZk4l3nlnrrJha/very-long-and-with-a-slash-é"
AGENT: Json = {
    "system_parts": [
        {"key": "a", "content": "You fix bugs."},
        {"key": "b", "content": "Be brief."},
    ],
    "tools": [{"name": "read", "description": "Read", "parameters": {"type": "object"}}],
}
PNG: Json = {"source_type": "base64", "data": "AAAA", "media_type": "image/png"}
HISTORY = [
    message("user", [text_block("Look."), {"type": "data", "source": PNG}], "m1"),
    message("assistant", [text_block("I look."), tool_call(LONG_ID), tool_call("c2")], "m2"),
    message("tool", [tool_result(LONG_ID), tool_result("c2", "no", state="error")], "m3"),
    assistant("A dot.", "m4"),
    user("Thanks.", "m5"),
]
MARKS = ("prefix",)
"""What only the last message of some formats has."""


def elements_of(prepared: Json) -> list[Any]:
    body = prepared["request"]
    path = next(name for name in ("messages", "input", "contents") if name in body)
    return [_unmarked(element) for element in body[path]]


def _unmarked(value: Any) -> Any:
    """The element without the marks of a last one, and without cache breakpoints."""
    if isinstance(value, list):
        return [_unmarked(item) for item in value if "cachePoint" not in item]
    if isinstance(value, dict):
        left_out = (*MARKS, "cache_control")
        return {
            name: _unmarked(item) if name == "content" else item
            for name, item in value.items()
            if name not in left_out
        }
    return value


@FORMATS
async def test_the_body_is_that_of_the_neutral_request_and_can_be_had_again(
    api: Api, body_format: str
) -> None:
    session = await api.session(agent=AGENT)
    neutral = await session.prepare(append=HISTORY)
    response = await session.post("prepare", {"format": body_format})
    prepared = response.json()
    encoded = succeeded(
        await api.client.post(
            "/v1/encode", json={"format": body_format, "request": neutral["request"]}
        )
    )
    again = await session.get(f"prepared/{prepared['prepared_id']}")

    assert prepared["request"] == encoded["body"]
    assert prepared["call_ids"] == encoded["call_ids"]
    assert prepared.get("target") == encoded.get("target")
    assert prepared["call_ids"][_sent_id(response.text, prepared)] == LONG_ID
    assert again.content in response.content
    assert again.json() == prepared["request"]
    assert prepared["prepared_id"] != neutral["prepared_id"]
    for told in ("budget", "limits", "decision", "projection", "pruned"):
        assert prepared[told] == neutral[told]


def _sent_id(text: str, prepared: Json) -> str:
    (made,) = (made for made, own in prepared["call_ids"].items() if own == LONG_ID)
    assert f'"{made}"' in text.split('"request":', 1)[1]
    return made


@FORMATS
@ON_SQLITE
async def test_repairs_name_the_message_that_they_are_about(api: Api, body_format: str) -> None:
    session = await api.session(agent=AGENT)
    prepared = await session.prepare(format=body_format, append=HISTORY)

    assert {
        "code": "call_id_renamed",
        "message_index": 1,
        "message_id": "m2",
        "call_id": LONG_ID,
    } in prepared["repairs"]


@FORMATS
async def test_an_equal_prepare_has_the_same_name_and_bytes_and_stores_nothing(
    api: Api, body_format: str
) -> None:
    session = await api.session(agent=AGENT)
    first = await session.prepare(format=body_format, append=HISTORY)
    again = await session.prepare(format=body_format)

    for told in ("prepared_id", "request", "version", "prefix"):
        assert again[told] == first[told]


@FORMATS
async def test_messages_of_a_session_that_grows_begin_with_those_before(
    api: Api, body_format: str
) -> None:
    session = await api.session(agent=AGENT)
    before: list[Any] = []
    previous: Json = {}
    for steps in _whole_rounds(coding_session()[:60]):
        prepared = await session.prepare(format=body_format, append=steps)
        after, prefix = elements_of(prepared), prepared["prefix"]
        # A message that no model sees makes the same call again.
        if previous and after != before:
            assert after[: len(before)] == before
            assert prefix["segments"][:2] == previous["segments"][:2]
            assert prefix["common_messages"] >= len(before) - 1
            assert (prefix["broken_at"] is None) == (prefix["cause"] is None)
            assert prefix["cause"] in (None, "encoding")
        before, previous = after, prefix


def _whole_rounds(messages: list[Json]) -> list[list[Json]]:
    """The messages in steps, none of which parts a call from its result."""
    steps: list[list[Json]] = []
    for entry in messages:
        if entry["role"] == "tool":
            steps[-1].append(entry)
        else:
            steps.append([entry])
    return steps


@ON_SQLITE
async def test_each_format_is_compared_with_the_call_before_in_the_same_format(api: Api) -> None:
    session = await api.session(agent=AGENT)
    for body_format in (*ENCODERS, "neutral"):
        prepared = await session.prepare(format=body_format, append=[])
        assert prepared["prefix"]["common_messages"] == 0
    await session.append(*HISTORY)
    for body_format in (*ENCODERS, "neutral"):
        await session.prepare(format=body_format)
    await session.append(assistant("Bye.", "m6"), user("Bye.", "m7"))
    for body_format in (*ENCODERS, "neutral"):
        prefix = (await session.prepare(format=body_format))["prefix"]
        assert prefix["common_messages"] > 0
        assert prefix["cause"] is None


@FORMATS
@ON_SQLITE
async def test_another_agent_breaks_the_prefix_wherever_the_format_has_its_words(
    api: Api, body_format: str
) -> None:
    session = await api.session(agent=AGENT)
    await session.prepare(format=body_format, append=HISTORY)
    changed = {"agent": {**AGENT, "system_parts": [{"key": "a", "content": "You write."}]}}
    succeeded(await api.client.patch("/v1/sessions/s", json=changed))
    prefix = (await session.prepare(format=body_format))["prefix"]

    assert prefix["cause"] == "agent_changed"


@FORMATS
async def test_a_call_can_be_had_again_after_everything_changed(api: Api, body_format: str) -> None:
    session = await api.session(agent=AGENT)
    prepared = await session.prepare(format=body_format, append=HISTORY)
    path = f"prepared/{prepared['prepared_id']}"
    before = (await session.get(path)).content
    await compact(session)
    later = {"model": "model-b", "agent": {"system_prompt": "x"}, "policy": {"tool_order": "name"}}
    succeeded(await session.client.patch(f"/v1/sessions/{session.id}", json=later))
    await session.append(user("more"))

    assert (await session.get(path)).content == before


@FORMATS
async def test_another_process_makes_the_same_bytes(
    api: Api, database_url: str, body_format: str
) -> None:
    session = await api.session(agent=AGENT)
    prepared = await session.prepare(format=body_format, append=HISTORY)
    async with service(database_url) as client:
        other = SessionApi(client=client, id=session.id, created=session.created)
        again = await other.prepare(format=body_format)

    assert again["request"] == prepared["request"]
    assert again["prepared_id"] == prepared["prepared_id"]


@FORMATS
@ON_SQLITE
async def test_a_conversation_that_is_given_whole_gets_the_same_body(
    api: Api, body_format: str
) -> None:
    session = await api.session(agent=AGENT)
    prepared = await session.prepare(format=body_format, append=HISTORY)
    conversation = [{"role": entry["role"], "content": entry["content"]} for entry in HISTORY]
    given: Mapping[str, Any] = {
        "model_profile": PROFILE,
        **AGENT,
        "conversation": conversation,
        "format": body_format,
    }
    answer = succeeded(await api.client.post("/v1/prepare", json=given))

    assert answer["request"] == prepared["request"]
    assert answer["call_ids"] == prepared["call_ids"]


@pytest.mark.parametrize("path", ["sessions/s/prepare", "prepare"])
@ON_SQLITE
async def test_the_second_line_is_the_exact_body(api: Api, path: str) -> None:
    await api.session()
    given = {} if path.startswith("sessions") else {"model_profile": PROFILE}
    response = await api.client.post(
        f"/v1/{path}",
        json={**given, "format": "mistral.chat"},
        headers={"Accept": "application/x-ndjson"},
    )
    about, body, nothing = response.content.split(b"\n")

    assert nothing == b""
    assert "request" not in json.loads(about)
    assert json.loads(about)["call_ids"] == {}
    assert json.loads(body)["model"] == "model-a"


@pytest.mark.parametrize("path", ["sessions/s/prepare", "prepare"])
@ON_SQLITE
async def test_a_format_that_nobody_knows_is_refused_by_name(api: Api, path: str) -> None:
    await api.session()
    given = {} if path.startswith("sessions") else {"model_profile": PROFILE}
    response = await api.client.post(f"/v1/{path}", json={**given, "format": "openai.chats"})

    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert response.json()["errors"][0]["path"].startswith("/format")


@FORMATS
async def test_a_call_that_waits_and_a_late_result_are_said_in_every_format(
    api: Api, body_format: str
) -> None:
    session = await api.session(agent=AGENT)
    await session.append(user("q", "m1"), message("assistant", [tool_call("c1", state="pending")]))
    waiting = await session.prepare(format=body_format)
    await session.append(results("c1"), calls("c2"), results("c2"))
    late = await session.prepare(format=body_format)

    assert "the call is still running" in json.dumps(waiting["request"])
    assert "the call is still running" not in json.dumps(late["request"])
    assert late["prefix"]["cause"] == "late_tool_result"
