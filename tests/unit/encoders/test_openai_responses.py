"""OpenAI's Responses: items, reasoning and its pairs, settings, and the way back."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.blocks import (
    Base64Source,
    Data,
    FileIdSource,
    ProviderOpaque,
    ProviderState,
    Thinking,
    ToolCall,
    UrlSource,
    text_block,
)
from app.encoders.decoding import Asked, InvalidAnswer
from app.encoders.openai_responses import encode
from app.encoders.openai_responses_answers import decode
from app.encoders.request import NeutralMessage, NeutralTool
from tests.unit.core.builders import call, result
from tests.unit.encoders.builders import OPTIONS, READ, neutral, said, told

MODEL = "gpt-5.1"
STATE = ProviderState(driver="openai", model=MODEL, data={"id": "rs_1", "encrypted_content": "e"})
PLAIN_PNG = Base64Source(source_type="base64", data="AAAA", media_type="image/png")


def thought(text: str = "", state: ProviderState | None = STATE) -> Thinking:
    return Thinking(type="thinking", thinking=text, provider_state=state)


def items(*messages: NeutralMessage, model: str = MODEL) -> list[Any]:
    return list(encode(neutral(*messages, model=model), OPTIONS).elements)


def test_a_conversation_is_a_list_of_items() -> None:
    encoded = encode(
        neutral(
            said("user", "q"),
            said("assistant", "I look.", call("c1"), call("c2")),
            said("tool", result("c1", "x")),
            said("tool", result("c2", "y", "z")),
            said("assistant", "a", "b"),
            system=("s", "t"),
        ),
        OPTIONS,
    )

    assert list(encoded.elements) == [
        {"role": "system", "content": "s"},
        {"role": "system", "content": "t"},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "x"},
        {
            "type": "function_call_output",
            "call_id": "c2",
            "output": [{"type": "input_text", "text": "y"}, {"type": "input_text", "text": "z"}],
        },
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "b"},
    ]
    assert encoded.fields["store"] is False


def test_reasoning_goes_back_in_front_of_what_it_led_to() -> None:
    assert items(said("user", "q"), said("assistant", thought("why"), call("c1")))[1:] == [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "why"}],
            "id": "rs_1",
            "encrypted_content": "e",
        },
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
    ]


def test_B028_reasoning_is_left_out_for_another_model_and_comes_back() -> None:
    messages = said("user", "q"), said("assistant", thought("why"), "a")

    assert [item.get("type") for item in items(*messages, model="gpt-5.2")] == [None, None]
    assert [item.get("type") for item in items(*messages)] == [None, "reasoning", None]


@pytest.mark.parametrize(
    "state",
    [
        None,
        ProviderState(driver="anthropic", model=MODEL, data={"signature": "s"}),
        ProviderState(driver="openai", model=MODEL, data={"encrypted_content": "e"}),
        ProviderState(driver="openai", model=MODEL, data=[]),
    ],
)
def test_B029_reasoning_that_is_not_known_to_the_provider_is_left_out(
    state: ProviderState | None,
) -> None:
    encoded = encode(
        neutral(said("user", "q"), said("assistant", thought("hm", state), "a"), model=MODEL),
        OPTIONS,
    )

    assert "hm" not in str(encoded.body())
    assert told(encoded)[0][0] in ("unsigned_thinking_dropped", "foreign_thinking_dropped")


@pytest.mark.parametrize("left", [(), ("",)])
def test_B032_reasoning_that_leads_to_nothing_is_left_out(left: tuple[str, ...]) -> None:
    assert items(said("user", "q"), said("assistant", thought(), *left), said("user", "r")) == [
        {"role": "user", "content": "q"},
        {"role": "user", "content": "r"},
    ]


def test_B031_messages_carry_no_id_that_would_ask_for_their_reasoning() -> None:
    body = {
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "a", "annotations": []}],
            },
        ]
    }
    blocks = decode(body, Asked(model=MODEL)).blocks
    message = NeutralMessage(role="assistant", blocks=blocks[1:])

    assert items(said("user", "q"), message)[1] == {"role": "assistant", "content": "a"}


@pytest.mark.parametrize("empty", [(), ("",)])
def test_B038_an_empty_result_and_an_empty_message_say_so(empty: tuple[str, ...]) -> None:
    sent = items(
        said("user", *empty), said("assistant", call("c1")), said("tool", result("c1", *empty))
    )

    assert sent[0] == {"role": "user", "content": "(empty message)"}
    assert sent[2]["output"] == "(no output)"


def test_nothing_said_is_a_message_all_the_same() -> None:
    assert items() == items(said("assistant")) == [{"role": "user", "content": "(empty message)"}]


def test_B049_ids_are_replaced_alike_and_never_shared() -> None:
    encoded = encode(
        neutral(
            said("user", "q"),
            said("assistant", call("a b"), call("x" * 65), call("ok")),
            said("tool", result("a b")),
            said("tool", result("x" * 65)),
            said("tool", result("ok")),
        ),
        OPTIONS,
    )
    asked = [item["call_id"] for item in encoded.elements if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in encoded.elements if "output" in item]

    assert asked == answered
    assert len(set(asked)) == 3
    assert sorted(encoded.call_ids.values()) == ["a b", "x" * 65]


def test_a_call_of_free_text_and_its_result_are_of_their_own_type() -> None:
    free = ToolCall(
        type="tool_call",
        id="c1",
        name="patch",
        input="*** Begin",
        provider_state=ProviderState(
            driver="openai", model=MODEL, data={"type": "custom_tool_call"}
        ),
    )
    messages = said("user", "q"), said("assistant", free), said("tool", result("c1", "ok"))

    assert items(*messages)[1:] == [
        {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"},
    ]
    switched = items(*messages, model="gpt-4o")
    assert switched[1]["arguments"] == '{"_raw":"*** Begin"}'
    assert switched[2]["type"] == "function_call_output"


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            Data(type="data", source=PLAIN_PNG),
            {
                "type": "input_image",
                "detail": "auto",
                "image_url": "data:image/png;base64,AAAA",
            },
        ),
        (
            Data(
                type="data",
                source=Base64Source(
                    source_type="base64", data="AAAA", media_type="application/pdf"
                ),
            ),
            {
                "type": "input_file",
                "filename": "file.pdf",
                "file_data": "data:application/pdf;base64,AAAA",
            },
        ),
        (
            Data(
                type="data",
                source=UrlSource(
                    source_type="url", url="https://a.test", media_type="application/pdf"
                ),
            ),
            {"type": "input_file", "file_url": "https://a.test"},
        ),
        (
            Data(type="data", source=FileIdSource(source_type="file_id", id="f1")),
            {"type": "input_file", "file_id": "f1"},
        ),
        (
            Data(
                type="data",
                source=Base64Source(source_type="base64", data="AAAA", media_type="audio/wav"),
            ),
            {"type": "input_text", "text": "[media left out: audio/wav]"},
        ),
    ],
)
def test_media_are_parts_of_users_and_results(block: Data, part: Any) -> None:
    sent = items(
        said("user", "q", block), said("assistant", call("c1")), said("tool", result("c1", block))
    )

    assert sent[0]["content"][1] == part
    expected = part["text"] if part["type"] == "input_text" else [part]
    assert sent[2]["output"] == expected


@pytest.mark.parametrize(
    ("given_settings", "fields"),
    [
        ({"reasoning_effort": "low"}, {"reasoning": {"effort": "low"}}),
        (
            {"reasoning": {"summary": "auto"}, "reasoning_effort": "low"},
            {"reasoning": {"summary": "auto", "effort": "low"}},
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "n"}}},
            {"text": {"format": {"type": "json_schema", "name": "n"}}},
        ),
        ({"verbosity": "low"}, {"text": {"verbosity": "low"}}),
        ({"temperature": 0.5}, {"temperature": 0.5}),
        ({"stop": ["x"]}, {}),
        ({"tool_choice": {"name": "read"}}, {"tool_choice": {"type": "function", "name": "read"}}),
        ({"tool_choice": "any"}, {"tool_choice": "required"}),
    ],
)
def test_settings_have_their_places(given_settings: dict[str, Any], fields: Any) -> None:
    made = encode(
        neutral(said("user", "q"), tools=(READ,), generation=given_settings), OPTIONS
    ).fields

    assert {name: made[name] for name in made if name not in ("model", "store", "tools")} == fields


@pytest.mark.parametrize(
    ("model", "asks"),
    [
        ("o3", True),
        ("gpt-5", True),
        ("openai/gpt-5.1-codex", True),
        ("gpt-4o", False),
        ("m", False),
    ],
)
def test_encrypted_reasoning_is_asked_of_models_that_reason(model: str, asks: bool) -> None:
    fields = encode(neutral(said("user", "q"), model=model), OPTIONS).fields

    assert ("include" in fields) is asks


def test_tools_are_not_strict_and_have_a_schema() -> None:
    bare = NeutralTool(name="t", description="", parameters={})
    tools: Any = encode(neutral(said("user", "q"), tools=(READ, bare)), OPTIONS).fields["tools"]

    assert [tool["strict"] for tool in tools] == [False, False]
    assert tools[1]["parameters"] == {"type": "object", "properties": {}}


OUTPUT: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
    {"type": "compaction", "id": "cmp_1", "encrypted_content": "z"},
    {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "x"},
    {"type": "function_call", "call_id": "call_made", "name": "read", "arguments": "{broken"},
]


def test_an_answer_is_read_whole_and_sent_as_it_was() -> None:
    body = {"model": "gpt-5.1-2026-01-01", "status": "completed", "output": OUTPUT, "usage": {}}
    decoded = decode(body, Asked(model=MODEL))

    assert (decoded.model, decoded.finish_reason) == ("gpt-5.1-2026-01-01", "completed")
    sent = items(said("user", "q"), NeutralMessage(role="assistant", blocks=decoded.blocks))
    wrapped = {**OUTPUT[4], "arguments": '{"_raw":"{broken"}'}
    assert sent[1:] == [*OUTPUT[:4], wrapped]


def test_the_reason_of_a_cut_and_the_conversations_own_id_are_told() -> None:
    body = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "function_call", "call_id": "made", "name": "read", "arguments": "{}"}],
    }
    decoded = decode(body, Asked(call_ids={"made": "call_long"}))

    assert decoded.finish_reason == "max_output_tokens"
    assert decoded.blocks == (call("call_long"),)


def test_refusals_are_text() -> None:
    part = {"type": "refusal", "refusal": "No."}
    body = {"output": [{"type": "message", "role": "assistant", "content": [part]}]}

    assert decode(body, Asked()).blocks == (text_block("No."),)


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "output"),
        ({"output": [7]}, "output.0"),
        ({"output": [{}]}, "output.0.type"),
        ({"output": [{"type": "message"}]}, "output.0.content"),
        ({"output": [{"type": "message", "content": [{"type": "x"}]}]}, "output.0.content.0.type"),
        ({"output": [{"type": "function_call"}]}, "output.0.name"),
        ({"output": [{"type": "reasoning", "summary": [{}]}]}, "output.0.summary.0.text"),
        ({"output": [{"type": "custom_tool_call"}]}, "output.0.input"),
    ],
)
def test_what_is_no_response_is_refused(body: Mapping[str, object], key: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        decode(body, Asked())

    assert refused.value.details == {"key": key}


def test_blocks_of_others_are_left_out() -> None:
    foreign = ProviderOpaque(type="provider_opaque", driver="mistral", kind="x", payload={})

    assert items(said("user", "q"), said("assistant", foreign, "a"))[1:] == [
        {"role": "assistant", "content": "a"}
    ]


WORDS = st.sampled_from(
    [
        *("type", "message", "content", "output_text", "text", "reasoning", "summary", "name"),
        *("function_call", "arguments", "custom_tool_call", "input", "call_id", "output", "id"),
    ]
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.integers(), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)


@given(body=st.dictionaries(WORDS, ANYTHING, max_size=4))
def test_whatever_comes_is_read_or_refused(body: dict[str, Any]) -> None:
    refused = None
    try:
        decode(body, Asked(model="m"))
    except InvalidAnswer as error:
        refused = error

    assert refused is None or refused.details["key"]
