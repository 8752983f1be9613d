"""Prepare without a session: everything that the answer depends on is in the body."""

from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import (
    PROFILE,
    Api,
    Json,
    assistant,
    calls,
    message,
    results,
    succeeded,
    text_block,
    tool_call,
    tool_result,
    user,
    watermark,
)
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

pytestmark = ON_SQLITE

READ: Json = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}
TEXT_ONLY: Json = {**PROFILE, "accepts_data_blocks": False}
IMAGE: Json = {
    "type": "data",
    "source": {"source_type": "base64", "data": "Z" * 40, "media_type": "image/png"},
    "name": None,
}
BLANK_KEY: Json = {"key": " ", "content": "x"}


async def post(api: Api, *conversation: Json, **fields: Any) -> httpx.Response:
    body = {"model_profile": PROFILE, "conversation": list(conversation), **fields}
    return await api.client.post("/v1/prepare", json=body)


async def prepare(api: Api, *conversation: Json, **fields: Any) -> Json:
    return succeeded(await post(api, *conversation, **fields))


async def refused(api: Api, *conversation: Json, **fields: Any) -> tuple[str, object]:
    """The code of a refusal and the offender."""
    response = await post(api, *conversation, **fields)
    problem = response.json()

    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    return problem["code"], problem.get("item_index", problem.get("key"))


def real(given: Json, sequence: int) -> Json:
    return {**given, "source": {"type": "real", "id": f"m{sequence}", "sequence": sequence}}


def output_text(prepared: Json, index: int = -1) -> str:
    text: str = prepared["request"]["messages"][index]["content"][0]["output"][0]["text"]
    return text


@requirement("OW-6-pure", "OW-6-provider-neutral")
async def test_E1_a_request_is_made_of_what_is_given(api: Api) -> None:
    given: Json = {"system_parts": [{"key": "k", "content": "s"}], "tools": [READ]}

    prepared = await prepare(api, user("hello"), **given)

    assert prepared["request"] == {
        "model": "model-a",
        "messages": [
            {"role": "system", "content": [text_block("s")]},
            {"role": "user", "content": [text_block("hello")]},
        ],
        "temperature": None,
        "top_p": None,
        "max_output_tokens": 32_000,
        "thinking": None,
        "tools": [READ],
    }
    assert prepared["decision"]["action"] == "submit"
    assert set(prepared) == {
        *("request", "budget", "limits", "decision", "projection", "pruned", "repairs"),
    }
    assert await prepare(api, user("hello"), **given) == prepared


async def test_nothing_at_all_is_a_request_too(api: Api) -> None:
    prepared = await prepare(api)

    assert prepared["request"]["messages"] == []
    assert prepared["budget"]["estimated_input_tokens"] == 0


@requirement("OW-7.2-line-reached")
async def test_L3_the_line_counts_input_and_output_together(api: Api) -> None:
    profile = {"name": "m", "context_window": 1_000, "max_output_tokens": 400}
    parts = [{"key": text, "content": text} for text in ("agent", "project")]

    prepared = await prepare(api, user("x" * 1_600), model_profile=profile, system_parts=parts)

    assert prepared["budget"]["system_context_tokens"] == 17
    assert prepared["budget"]["conversation_tokens"] == 407
    assert prepared["decision"]["action"] == "compact"
    assert prepared["decision"]["measured_tokens"] == 824


@requirement("OW-4.2-data-in-user-request-refused", "OW-4.2-data-elsewhere-removed")
async def test_N6_N7_N8_media_where_the_model_takes_none(api: Api) -> None:
    with_image = message("user", [text_block("x"), IMAGE])
    skill = {**with_image, "kind": "skill_instruction"}

    assert await refused(api, user("a"), with_image, model_profile=TEXT_ONLY) == (
        "unsupported_user_data",
        1,
    )

    filtered = await prepare(api, skill, model_profile=TEXT_ONLY)
    taken = await prepare(api, with_image)

    assert filtered["request"]["messages"] == [{"role": "user", "content": [text_block("x")]}]
    assert filtered["repairs"] == [{"code": "data_block_filtered", "item_index": 0}]
    assert taken["request"]["messages"] == [with_image]
    assert taken["repairs"] == []


async def test_N14_a_message_may_be_left_without_content(api: Api) -> None:
    skill = message("user", [IMAGE], kind="skill_instruction")

    prepared = await prepare(api, skill, model_profile=TEXT_ONLY)

    assert prepared["request"]["messages"] == [{"role": "user", "content": []}]


@requirement("OW-6-order-of-checks", "OW-11-system-message-fails-assembly")
async def test_E11_E12_of_several_faults_the_first_in_order_is_told(api: Api) -> None:
    image = message("user", [IMAGE])
    system = message("system", "x")

    assert await refused(api, system, system_parts=[BLANK_KEY]) == ("empty_system_context_key", " ")
    assert await refused(api, image, system_parts=[BLANK_KEY], model_profile=TEXT_ONLY) == (
        "unsupported_user_data",
        0,
    )
    assert await refused(api, user("a"), system) == ("system_message_in_conversation", 1)


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        pytest.param(
            ["core/agent-system"] * 2, ("duplicate_system_context", "core/agent-system"), id="E3"
        ),
        pytest.param([" "], ("empty_system_context_key", " "), id="E4"),
    ],
)
async def test_system_parts_are_checked_in_order(
    api: Api, parts: list[str], outcome: tuple[str, str]
) -> None:
    given = [{"key": key, "content": "x"} for key in parts]

    assert await refused(api, system_parts=given) == outcome


async def test_E5_E13_a_system_part_has_a_block_which_may_be_empty(api: Api) -> None:
    assert await refused(api, system_parts=[{"key": "k", "content": []}]) == (
        "empty_system_context",
        "k",
    )

    prepared = await prepare(api, system_parts=[{"key": "k", "content": ""}])

    assert prepared["request"]["messages"] == [{"role": "system", "content": [text_block("")]}]


@requirement("OW-7.3-system-part-10000")
@pytest.mark.parametrize(("characters", "accepted"), [(39_969, True), (39_970, False)])
async def test_I6_a_system_part_stays_below_its_limit(
    api: Api, characters: int, accepted: bool
) -> None:
    response = await post(api, system_parts=[{"key": "p", "content": "x" * characters}])

    assert response.is_success == accepted


@requirement("OW-4.2-prune-head-and-tail", "OW-4.2-prune-project-normalize")
async def test_P1_an_old_result_is_pruned_and_its_marker_names_the_file(api: Api) -> None:
    text = "h" * 5_000 + "m" * 10_000 + "t" * 2_000
    conversation = [
        real(user("u"), 1),
        real(calls("call-1"), 2),
        real(message("tool", [tool_result("call-1", text)]), 3),
        real(calls("call-2"), 4),
        real(message("tool", [tool_result("call-2", text)]), 5),
    ]
    prune = {"through_sequence": 3, "spill_directory": "/spill/session"}

    prepared = await prepare(api, *conversation, prune=prune, include=["provenance"])

    assert output_text(prepared, 2) == (
        "h" * 4_096
        + "\n... [tool result pruned: 11880 characters omitted. Full result at "
        + "/spill/session/call-1.txt — read it if you still need it]\n"
        + "t" * 1_024
    )
    assert output_text(prepared, 4) == text
    assert prepared["pruned"] == watermark(3, tool_results=1)
    assert prepared["provenance"][2] == {"type": "stored", "message_id": "m3", "sequence": 3}


@pytest.mark.parametrize(
    ("sequence", "characters"),
    [
        pytest.param(1, 8_192, id="P2 at the limit"),
        pytest.param(5, 8_193, id="P2 above the boundary"),
        pytest.param(None, 8_193, id="P2 live"),
    ],
)
async def test_what_is_not_old_and_long_stays_whole(
    api: Api, sequence: int | None, characters: int
) -> None:
    result = message("tool", [tool_result("c1", "x" * characters)])
    if sequence is not None:
        result = real(result, sequence)

    prepared = await prepare(api, calls("c1"), result, prune={"through_sequence": 4})

    assert output_text(prepared) == "x" * characters
    assert prepared["pruned"] == watermark(4)


async def test_the_policy_says_from_where_on_a_result_is_pruned(api: Api) -> None:
    result = real(message("tool", [tool_result("c1", "x" * 101)]), 2)

    prepared = await prepare(
        api,
        real(calls("c1"), 1),
        result,
        prune={"through_sequence": 2},
        policy={"prune_tool_result_chars": 100},
    )

    assert output_text(prepared) == (
        "x" * 50 + "\n... [tool result pruned: 39 characters omitted]\n" + "x" * 12
    )


async def test_J1_J8_results_are_projected(api: Api) -> None:
    captured = tool_result(
        "c2",
        output=[
            text_block("captured"),
            {**IMAGE, "source": {**IMAGE["source"], "data": "Z" * 40_000}},
        ],
    )

    prepared = await prepare(
        api,
        calls("c1", "c2"),
        message("tool", [tool_result("c1", "a" * 10_000)]),
        message("tool", [captured]),
        policy={"max_tool_result_tokens": 100},
    )

    assert len(output_text(prepared, 1).encode()) == 400
    assert prepared["request"]["messages"][2]["content"][0]["output"] == [
        text_block("captured"),
        text_block(
            "[tool result omitted 1 data block(s), approximately 40009 bytes; "
            "the authoritative result remains unchanged]"
        ),
    ]
    assert prepared["projection"] == {
        "truncated_tool_results": 2,
        "original_tokens": 12_505,
        "projected_tokens": 129,
    }


async def test_sources_say_where_messages_come_from(api: Api) -> None:
    replay = {"type": "synthetic", "reason": "last_user_request_replay"}

    prepared = await prepare(
        api,
        {**user("again"), "source": replay},
        real(assistant("ok"), 7),
        {**user("unseen"), "agent_visible": False},
        message("assistant", [tool_call("c1", state="submitted")]),
        user("live"),
        include=["provenance", "items"],
    )

    sources = [(entry["type"], entry.get("reason")) for entry in prepared["provenance"]]
    assert sources == [
        ("synthetic", "last_user_request_replay"),
        ("stored", None),
        ("synthetic", "live"),
        ("synthetic", "interrupted_tool_result"),
        ("synthetic", "live"),
    ]
    assert len(prepared["items"]["messages"]) == 5
    assert output_text(prepared, 3) == "Tool result not available yet: the call is still running."


@requirement("OW-11-tool-order-is-fixed", "OW-11-gap-two-equal-surfaces")
async def test_tools_and_their_rules_are_as_a_root_session_has_them(api: Api) -> None:
    tools = [
        {**READ, "name": "write", "root_only": True, "system_rule": "Write with care."},
        {**READ, "sandbox_parameters": ["x"]},
    ]

    prepared = await prepare(api, tools=tools, policy={"tool_order": "name"})

    assert [tool["name"] for tool in prepared["request"]["tools"]] == ["read", "write"]
    assert prepared["request"]["messages"] == [
        {"role": "system", "content": [text_block("Write with care.")]}
    ]


async def test_generation_is_part_of_the_request(api: Api) -> None:
    generation = {"temperature": 0.5, "stop": ["x"], "top_p": None, "seed": None}

    request = (await prepare(api, generation=generation))["request"]

    assert (request["temperature"], request["top_p"], request["stop"]) == (0.5, None, ["x"])
    assert "seed" not in request


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (message("user", []), "empty_message"),
        (message("tool", "x"), "invalid_tool_message"),
        (message("user", [tool_call("c1")]), "unexpected_role"),
        (message("assistant", "x", kind="world_state"), "unexpected_role"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_messages_that_nobody_may_send_are_refused(api: Api, given: Json, code: str) -> None:
    response = await post(api, user("a"), given)

    assert (response.json()["code"], response.json()["message_index"]) == (code, 1)


async def test_a_world_state_message_may_be_given(api: Api) -> None:
    told = message("user", "<sandbox_policy>\n</sandbox_policy>", kind="world_state")

    prepared = await prepare(api, told, results("ghost"))

    assert len(prepared["request"]["messages"]) == 1
    assert [repair["code"] for repair in prepared["repairs"]] == ["orphan_tool_result_dropped"]


async def test_repairs_count_into_the_conversation_that_was_given(
    client: httpx.AsyncClient,
) -> None:
    hidden = {**user("for people only"), "agent_visible": False}
    body = {"model_profile": PROFILE, "conversation": [hidden, user("Go."), results("ghost")]}
    answer = succeeded(await client.post("/v1/prepare", json=body))

    assert [(repair["code"], repair["item_index"]) for repair in answer["repairs"]] == [
        ("orphan_tool_result_dropped", 2)
    ]
