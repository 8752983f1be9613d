"""Prepare over HTTP: the request, its budget, and the decision at the very line."""

import json
from http import HTTPStatus

import pytest

from tests.api.client import (
    Api,
    Json,
    calls,
    message,
    results,
    text_block,
    tool_result,
    user,
    watermark,
)
from tests.api.on_one_database import ON_SQLITE
from tests.api.requests import budget_of, read_request, tokenizer_tokens_of
from tests.requirements import requirement

SMALL: Json = {"name": "model-a", "context_window": 1_000, "max_output_tokens": 400}
READ: Json = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}


def prompts(*texts: str) -> Json:
    return {"system_parts": [{"key": text, "content": text} for text in texts]}


@requirement("OW-6-request-shape", "OW-6-generation-defaults", "OW-11-regions-in-the-request")
@ON_SQLITE
async def test_E1_L11_a_request_has_its_regions_in_their_places(api: Api) -> None:
    session = await api.session(agent={**prompts("s", "t"), "tools": [READ]})

    prepared = await session.prepare(append=[user("hello")])

    assert prepared["request"] == {
        "model": "model-a",
        "messages": [
            {"role": "system", "content": [text_block("s")]},
            {"role": "system", "content": [text_block("t")]},
            {"role": "user", "content": [text_block("hello")]},
        ],
        "temperature": None,
        "top_p": None,
        "max_output_tokens": 32_000,
        "thinking": None,
        "tools": [READ],
    }
    assert prepared["repairs"] == []
    assert prepared["projection"] == {
        "truncated_tool_results": 0,
        "original_tokens": 0,
        "projected_tokens": 0,
    }
    assert prepared["pruned"] == watermark(None)
    assert prepared["world_state"] == {"emitted": []}


@requirement("OW-7.2-example", "OW-7.2-effective-input", "OW-7.2-line-85-percent")
@ON_SQLITE
async def test_L1_the_limits_of_a_session_name_their_sources(api: Api) -> None:
    session = await api.session()

    limits = (await session.prepare())["limits"]
    provenance = limits.pop("provenance")

    assert limits == {
        "context_window": 200_000,
        "effective_input_tokens": 168_000,
        "hard_limit_tokens": None,
        "auto_compact_token_limit": 142_800,
        "compact_at_input_tokens": 110_800,
        "scope": "total",
        "accepts_data_blocks": True,
        "max_context_item_tokens": 10_000,
        "max_tool_result_tokens": 8_000,
        "max_skill_instruction_tokens": 8_000,
        "max_agent_message_tokens": 4_000,
    }
    assert {name: origin["effective"] for name, origin in provenance.items()} == {
        name: limits[name]
        for name in ("context_window", "effective_input_tokens", "auto_compact_token_limit")
    }


@requirement("OW-7.2-line-reached")
@pytest.mark.parametrize(
    ("parts", "characters", "measured", "action"),
    [
        pytest.param(("agent", "project"), 1_600, 824, "compact", id="L3"),
        pytest.param(("agent",), 378, 510, "compact", id="L5"),
        pytest.param(("agent",), 374, 509, "submit", id="one token under L5"),
    ],
)
@ON_SQLITE
async def test_the_line_is_reached_at_equality(
    api: Api, parts: tuple[str, ...], characters: int, measured: int, action: str
) -> None:
    session = await api.session(model_profile=SMALL, agent=prompts(*parts))

    prepared = await session.prepare(append=[user("x" * characters)])
    decision, budget = prepared["decision"], prepared["budget"]

    assert (decision["action"], decision["measured_tokens"], decision["line_tokens"]) == (
        action,
        measured,
        510,
    )
    reason = {"compact": "token_limit_reached", "submit": "under_line"}[action]
    assert decision["reason"] == reason
    assert budget["estimated_input_tokens"] == measured - 400
    assert budget["state"] == {"compact": "over", "submit": "ok"}[action]
    assert prepared["request"]["messages"][-1]["content"] == [text_block("x" * characters)]


@ON_SQLITE
async def test_L5_the_budget_at_the_line_is_told_whole(api: Api) -> None:
    session = await api.session(model_profile=SMALL, agent=prompts("agent"))

    prepared = await session.prepare(append=[user("x" * 378)])
    budget = prepared["budget"]
    basis = budget["counts"].pop("basis")

    assert budget == {
        "system_context_tokens": 8,
        "conversation_tokens": 102,
        "tool_surface_tokens": 0,
        "estimated_input_tokens": 110,
        "reserved_output_tokens": 400,
        "used_percent": 11.0,
        "used_percent_raw": 11.0,
        "remaining_tokens": 0,
        "state": "over",
        "fits": True,
        "suggested_max_output_tokens": 400,
        "counts": {
            "policy": 110,
            "json_bytes": 110,
            "calibrated": None,
            "tokenizer": budget["counts"]["tokenizer"],
            "regions": budget["counts"]["regions"],
        },
    }
    assert sum(budget["counts"]["regions"]["tokenizer"].values()) == budget["counts"]["tokenizer"]
    assert budget["counts"]["regions"]["policy"] == budget["counts"]["regions"]["json_bytes"]
    assert budget["counts"]["regions"]["calibrated"] is None
    assert basis["tokenizer"].startswith("tiktoken ")
    assert basis["calibrated"] == "no usage was reported"
    session_now = await session.read()
    assert (session_now["state"], session_now["used_percent"]) == ("over", 11.0)


@requirement("OW-7.1-measures-what-is-sent", "OW-11-budget-of-the-prepared-request")
@ON_SQLITE
async def test_B9_the_budget_is_that_of_the_request_that_is_sent(api: Api) -> None:
    session = await api.session(
        agent={"system_prompt": "Prompt.", "tools": [READ, {**READ, "name": "x"}]}
    )
    artifact = {"kind": "file_change", "payload": {"diff": "x" * 100_000}}
    edited = tool_result("call-1", "Edited src/lib.rs:3 (+1 -1)", artifacts=[artifact])
    await session.append(
        user("é中😀"),
        calls("call-1", "c2", "c3"),
        message("tool", [edited, tool_result("c2", "y" * 40_000)]),
    )

    prepared = await session.prepare()
    request = read_request((await session.get(f"prepared/{prepared['prepared_id']}")).text)

    assert budget_of(request).items() <= prepared["budget"].items()
    assert tokenizer_tokens_of(request) == prepared["budget"]["counts"]["tokenizer"]
    assert request.conversation[2].message["content"][0]["artifacts"] == [artifact]
    assert request.conversation[2].counted_bytes == 134


@requirement("OW-4.2-project-over-8000-tokens", "OW-4.2-project-75-25")
@ON_SQLITE
async def test_J1_a_policy_may_set_what_one_result_may_take(api: Api) -> None:
    session = await api.session(policy={"max_tool_result_tokens": 100})
    await session.append(calls("c1"), message("tool", [tool_result("c1", "a" * 10_000)]))

    prepared = await session.prepare()
    text = prepared["request"]["messages"][-1]["content"][0]["output"][0]["text"]
    marker = (
        "\n...[tool result truncated; original≈2500 tokens; projected=100; "
        "continue with read/grep using narrower offset or query]...\n"
    )

    assert text == "a" * 205 + marker + "a" * 69
    assert prepared["projection"] == {
        "truncated_tool_results": 1,
        "original_tokens": 2_500,
        "projected_tokens": 100,
    }
    assert prepared["limits"]["max_tool_result_tokens"] == 100


@ON_SQLITE
@pytest.mark.parametrize(
    ("characters", "size", "truncated"),
    [
        pytest.param(32_000, 32_000, 0, id="J12 at the limit"),
        pytest.param(32_001, 32_000, 1, id="J12 over the limit"),
        pytest.param(40_000, 32_000, 1, id="J13"),
    ],
)
async def test_a_result_is_projected_from_8_000_tokens_on(
    api: Api, characters: int, size: int, truncated: int
) -> None:
    session = await api.session()
    await session.append(calls("c1"), message("tool", [tool_result("c1", "a" * characters)]))

    prepared = await session.prepare()
    text = prepared["request"]["messages"][-1]["content"][0]["output"][0]["text"]

    assert len(text.encode()) == size
    assert prepared["projection"]["truncated_tool_results"] == truncated


@ON_SQLITE
async def test_a_call_may_be_told_where_each_message_comes_from_and_what_it_takes(api: Api) -> None:
    session = await api.session(agent={"system_prompt": "p", "tools": [READ]})
    await session.append(
        user("hi", "m1"), calls("c1", "c2", message_id="m2"), results("c2", message_id="m3")
    )

    plain = await session.prepare()
    prepared = await session.prepare(include=["provenance", "items"])
    made = prepared["provenance"][2]

    assert "provenance" not in plain
    assert "items" not in plain
    assert prepared["provenance"] == [
        {"type": "stored", "message_id": "m1", "sequence": 1},
        {"type": "stored", "message_id": "m2", "sequence": 2},
        {"type": "synthetic", "reason": "interrupted_tool_result", "id": made["id"]},
        {"type": "stored", "message_id": "m3", "sequence": 3},
    ]
    assert len(prepared["items"]["messages"]) == len(prepared["request"]["messages"]) == 5
    count = {"tokenizer": 1, "calibrated": None}
    assert prepared["items"]["messages"][1] == {
        **count,
        "policy": 8,
        "json_bytes": 8,
        "blocks": [{**count, "type": "text", "bytes": 27, "policy": 7, "json_bytes": 7}],
    }
    two_calls = prepared["items"]["messages"][2]
    assert [block["type"] for block in two_calls["blocks"]] == ["tool_call", "tool_call"]
    assert sum(block["tokenizer"] for block in two_calls["blocks"]) == two_calls["tokenizer"]
    assert [tool["name"] for tool in prepared["items"]["tools"]] == ["read"]
    assert prepared["items"]["tools"][0]["json_bytes"] == 19
    again = await session.prepare(include=["provenance"])
    assert again["provenance"] == prepared["provenance"]


@pytest.mark.parametrize(
    ("of_session", "of_call", "expected"),
    [
        ({}, {}, {}),
        ({"temperature": 1, "stop": ["x"]}, {}, {"temperature": 1, "stop": ["x"]}),
        ({"temperature": 1}, {"temperature": 0.5}, {"temperature": 0.5}),
        ({"temperature": 1, "stop": ["x"]}, {"temperature": None, "stop": None}, {}),
        ({"b": 1, "a": 2}, {"c": 3, "a": 4}, {"a": 4, "b": 1, "c": 3}),
        ({"nested": {"x": 1}}, {"nested": {"y": 2}}, {"nested": {"y": 2}}),
        (
            {},
            {"thinking": {"mode": "enabled"}, "top_p": 1},
            {"thinking": {"mode": "enabled"}, "top_p": 1},
        ),
        (
            {"tool_choice": "auto"},
            {"tool_choice": {"type": "tool"}},
            {"tool_choice": {"type": "tool"}},
        ),
    ],
    ids=str,
)
@ON_SQLITE
async def test_a_call_replaces_the_settings_that_it_names(
    api: Api, of_session: Json, of_call: Json, expected: Json
) -> None:
    session = await api.session(generation=of_session)

    request = (await session.prepare(generation=of_call))["request"]
    settings = {
        name: request[name] for name in request if name not in ("model", "messages", "tools")
    }

    assert settings == {
        "temperature": None,
        "top_p": None,
        "max_output_tokens": 32_000,
        "thinking": None,
        **expected,
    }
    extra = [name for name in expected if name not in ("temperature", "top_p", "thinking")]
    assert list(request)[7:] == sorted(extra)
    assert (await session.read())["generation"] == of_session


async def test_a_request_can_be_had_as_a_line_of_its_own(api: Api) -> None:
    session = await api.session()
    answer = await session.prepare(append=[user("é\n", "m1")])

    response = await api.client.post(
        "/v1/sessions/s/prepare", json={}, headers={"Accept": "application/x-ndjson"}
    )
    about, request, end = response.content.split(b"\n")
    prepared = await session.get(f"prepared/{answer['prepared_id']}")

    assert response.status_code == HTTPStatus.OK
    assert response.headers["content-type"] == "application/x-ndjson"
    assert end == b""
    assert request == prepared.content
    assert request in (await session.post("prepare", {})).content
    without = {name: value for name, value in answer.items() if name != "request"}
    assert json.loads(about) == {**without, "appended": []}


async def test_messages_are_shown_to_whom_they_are_visible(api: Api) -> None:
    session = await api.session()
    await session.append(
        user("both", "m1"),
        user("people only", "m2", agent_visible=False),
        user("agent only", "m3", user_visible=False),
    )

    prepared = await session.prepare(include=["provenance"])

    assert [source["message_id"] for source in prepared["provenance"]] == ["m1", "m3"]
    assert [stored["id"] for stored in await session.messages()] == ["m1", "m2", "m3"]
    assert prepared["message_count"] == 3
