"""The preview: what the next call would be, through the same engine, changing nothing."""

from typing import Any

import pytest

from tests.api.captures import WHOLE
from tests.api.client import (
    PROFILE,
    Api,
    Json,
    SessionApi,
    calls,
    message,
    results,
    succeeded,
    text_block,
    tool_result,
    user,
)
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

AGENT: Json = {
    "system_parts": [
        {"key": "core/agent-system", "content": "Prompt."},
        {"key": "b", "content": "B"},
    ],
    "tools": [{"name": "read", "description": "Read a file", "parameters": {"type": "object"}}],
}


async def eventful(api: Api) -> SessionApi:
    """A session whose request is pruned of nothing, but projected, paired and filtered."""
    session = await api.session(agent=AGENT)
    artifact = {"kind": "file_change", "payload": {"path": "a"}}
    await session.append(
        user("hi", "m1", turn_id="t1"),
        calls("c1", "c2", message_id="m2", turn_id="t1"),
        message(
            "tool", [tool_result("c2", "é" * 20_000, artifacts=[artifact])], "m3", turn_id="t1"
        ),
        user("hidden", "m4", turn_id="t2", agent_visible=False),
    )
    return session


@requirement(
    "OW-8-preview-same-engine",
    "OW-8-preview-stores-nothing",
    "OW-11-preview-uses-the-same-projection",
    "OW-11-gap-preview-equals-the-request",
)
async def test_a_preview_has_the_bytes_of_the_call_that_follows(api: Api) -> None:
    session = await eventful(api)
    untouched = await session.read(), await session.messages()

    preview = await session.get("context")
    shown = preview.json()
    seen = await session.read(), await session.messages()
    prepared = await session.post("prepare", {})
    answer = prepared.json()

    assert seen == untouched
    contents = [element["content"] for element in answer["request"]["messages"]]
    assert [part["content"] for part in shown["system_context"]] == contents[:2]
    assert [element["content"] for element in shown["conversation"]] == contents[2:]
    for piece in pieces(preview.content):
        assert piece in prepared.content
    assert shown["tool_surface"] == answer["request"]["tools"]
    assert answer["budget"].items() <= shown["budget"].items()
    assert (shown["limits"], shown["decision"]) == (answer["limits"], answer["decision"])


def pieces(body: bytes) -> list[bytes]:
    """The content arrays of the conversation as bytes."""
    conversation = body.partition(b'"conversation":[')[2].partition(b'],"tool_surface"')[0]
    return [part.partition(b"},{")[0] for part in conversation.split(b'"content":')[1:]]


@requirement("OW-8-preview-contents")
async def test_a_preview_names_every_message_and_the_current_turn(api: Api) -> None:
    session = await eventful(api)

    preview = await session.read("context")
    whole_budget = preview.pop("budget")

    assert {name: preview[name] for name in list(preview)[:4]} == {
        "schema_version": 3,
        "session_id": "s",
        "current_turn_id": "t1",
        "resolved_model_name": "model-a",
    }
    assert [part["source_key"] for part in preview["system_context"]] == ["core/agent-system", "b"]
    assert [
        (element["message_id"], element["turn_id"], element["role"])
        for element in preview["conversation"]
    ] == [
        ("m1", "t1", "user"),
        ("m2", "t1", "assistant"),
        ("context-synthesized-2", None, "tool"),
        ("m3", "t1", "tool"),
    ]
    assert preview["conversation"][3]["content"][0]["artifacts"] == [
        {"kind": "file_change", "payload": {"path": "a"}}
    ]
    assert whole_budget["context_window_tokens"] == 200_000
    assert whole_budget["auto_compaction_threshold_percent"] == 85


@ON_SQLITE
async def test_a_preview_without_content_is_numbers_alone(api: Api) -> None:
    session = await eventful(api)
    whole = await session.read("context")

    numbers = await session.read("context", content="false")

    content = ("system_context", "conversation", "tool_surface")
    assert numbers == {name: whole[name] for name in whole if name not in content}
    assert await session.read("context", content="true") == whole


@requirement("OW-8-preview-samples-nothing")
async def test_a_preview_shows_what_was_told_and_samples_nothing(api: Api) -> None:
    session = await api.session()
    before = await session.read("context")
    await session.sample(WHOLE, turn_id="t9")

    after = await session.read("context")

    assert before["conversation"] == []
    assert before["current_turn_id"] is None
    assert len(after["conversation"]) == 4
    assert after["current_turn_id"] == "t9"
    assert await session.read("context") == after


@ON_SQLITE
async def test_the_current_turn_is_that_of_the_newest_message_that_has_one(api: Api) -> None:
    session = await api.session()
    await session.append(user("a", turn_id="t1"), user("b", turn_id="t2"), user("c"))

    assert (await session.read("context"))["current_turn_id"] == "t2"


@ON_SQLITE
async def test_what_prepare_refuses_the_preview_refuses(api: Api) -> None:
    session = await api.session()
    image = {"type": "data", "source": {"source_type": "file_id", "id": "f"}}
    await session.append(user("a"), message("user", [image], "m2"))
    profile = {**PROFILE, "accepts_data_blocks": False}
    succeeded(await api.client.patch("/v1/sessions/s", json={"model_profile": profile}))

    refusals: list[Any] = [
        (await session.get("context")).json(),
        (await session.post("prepare", {})).json(),
    ]
    for refusal in refusals:
        del refusal["instance"]

    assert refusals[0] == refusals[1]
    assert refusals[0]["code"] == "unsupported_user_data"
    assert (refusals[0]["item_index"], refusals[0]["message_id"]) == (1, "m2")


@ON_SQLITE
@pytest.mark.parametrize("value", ["maybe", "2"])
async def test_content_is_a_truth_value(api: Api, value: str) -> None:
    session = await api.session()

    response = await session.get("context", content=value)

    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


async def test_a_preview_follows_every_change_of_the_session(api: Api) -> None:
    session = await api.session()
    await session.append(calls("c1"), results("c1"))
    profile = {"name": "m", "context_window": 1_000, "max_output_tokens": 400}

    succeeded(
        await api.client.patch(
            "/v1/sessions/s",
            json={
                "model": "model-b",
                "model_profile": profile,
                "policy": {"auto_compact_percent": 50},
                "agent": {"system_prompt": "x" * 400},
            },
        )
    )
    preview = await session.read("context")

    assert preview["resolved_model_name"] == "model-b"
    assert preview["system_context"][0]["content"] == [text_block("x" * 400)]
    assert preview["budget"]["auto_compaction_threshold_percent"] == 50
    assert preview["decision"]["line_tokens"] == 300
    assert preview["decision"]["action"] == "compact"
