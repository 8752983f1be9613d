"""Answers of Anthropic and Bedrock: read whole, and sent back as they came."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.blocks import ProviderOpaque, ProviderState, Thinking, ToolCall, text_block
from app.encoders import anthropic, anthropic_answers, bedrock, bedrock_answers
from app.encoders.decoding import Asked, Decode, InvalidAnswer
from app.encoders.encoding import Encode
from app.encoders.request import NeutralMessage
from tests.unit.core.builders import call, result
from tests.unit.encoders.builders import OPTIONS, neutral, said

ASKED = Asked(call_ids={"toolu_1": "call_long"}, model="model-1")
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "model": "model-1-20260101",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "zzz"},
        {"type": "text", "text": "I will.", "citations": [{"type": "char_location"}]},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "c2", "name": "read", "input": {"b": 1, "a": [None]}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
CONVERSED: dict[str, Any] = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}},
                {"reasoningContent": {"redactedContent": "enp6"}},
                {"text": "I will."},
                {"citationsContent": {"content": [{"text": "x"}]}},
                {"toolUse": {"toolUseId": "c2", "name": "read", "input": {"b": 1}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 1, "outputTokens": 2},
}


@pytest.mark.parametrize(
    ("decode", "encode", "body", "content"),
    [
        (anthropic_answers.decode, anthropic.encode, MESSAGE, MESSAGE["content"]),
        (
            bedrock_answers.decode,
            bedrock.encode,
            CONVERSED,
            CONVERSED["output"]["message"]["content"],
        ),
    ],
)
def test_an_answer_that_is_read_is_sent_as_it_was(
    decode: Decode, encode: Encode, body: dict[str, Any], content: list[Any]
) -> None:
    blocks = decode(body, ASKED).blocks
    request = neutral(
        said("user", "q"),
        NeutralMessage(role="assistant", blocks=blocks),
        said("tool", result("c2")),
    )

    assert encode(request, OPTIONS).elements[1]["content"] == content


def test_a_message_is_read_whole() -> None:
    decoded = anthropic_answers.decode(MESSAGE, ASKED)
    state = ProviderState(driver="anthropic", model="model-1", data={"signature": "sig"})

    assert decoded.model == "model-1-20260101"
    assert (decoded.finish_reason, decoded.usage) == ("tool_use", MESSAGE["usage"])
    assert decoded.blocks[0] == Thinking(type="thinking", thinking="hm", provider_state=state)
    assert isinstance(decoded.blocks[3], ProviderOpaque)
    assert decoded.blocks[4] == ToolCall(
        type="tool_call", id="c2", name="read", input='{"b":1,"a":[null]}'
    )


def test_an_id_that_was_replaced_is_the_conversations_own() -> None:
    body = {"content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]}

    assert anthropic_answers.decode(body, ASKED).blocks == (call("call_long"),)


def test_the_model_of_bedrock_is_the_one_that_was_asked() -> None:
    assert bedrock_answers.decode(CONVERSED, ASKED).model == "model-1"
    (nameless, *_) = bedrock_answers.decode(CONVERSED, Asked()).blocks
    assert nameless == Thinking(type="thinking", thinking="hm")


@pytest.mark.parametrize("decode", [anthropic_answers.decode, bedrock_answers.decode])
def test_hidden_thinking_of_nobody_is_kept_as_a_block_of_the_provider(decode: Decode) -> None:
    hidden: list[Any] = [
        {"type": "redacted_thinking", "data": "zzz"},
        {"reasoningContent": {"redactedContent": "enp6"}},
    ]
    part = hidden[0] if decode is anthropic_answers.decode else hidden[1]
    (block,) = decode(
        {"content": [part], "output": {"message": {"content": [part]}}}, Asked()
    ).blocks

    assert isinstance(block, ProviderOpaque)
    assert block.payload == part


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "content"),
        ({"content": "x"}, "content"),
        ({"content": [7]}, "content.0"),
        ({"content": [{"type": "text"}]}, "content.0.text"),
        ({"content": [{"type": "thinking"}]}, "content.0.thinking"),
        ({"content": [{"type": "tool_use", "id": "c"}]}, "content.0.name"),
        ({"content": [{"type": "tool_use", "name": "n", "input": 7}]}, "content.0.input"),
    ],
)
def test_what_is_no_message_is_refused(body: Mapping[str, object], key: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        anthropic_answers.decode(body, Asked())

    assert refused.value.details == {"key": key}


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "output"),
        ({"output": {}}, "output.message"),
        ({"output": {"message": {}}}, "output.message.content"),
        (
            {"output": {"message": {"content": [{"toolUse": {"name": 7}}]}}},
            "output.message.content.0.toolUse.name",
        ),
        (
            {"output": {"message": {"content": [{"reasoningContent": {}}]}}},
            "output.message.content.0.reasoningContent.reasoningText",
        ),
    ],
)
def test_what_is_no_converse_response_is_refused(body: Mapping[str, object], key: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        bedrock_answers.decode(body, Asked())

    assert refused.value.details == {"key": key}


def test_an_empty_text_is_no_block() -> None:
    body = {"content": [{"type": "text", "text": ""}, {"type": "text", "text": "a"}]}

    assert anthropic_answers.decode(body, Asked()).blocks == (text_block("a"),)


WORDS = st.sampled_from(
    [
        *("type", "text", "content", "tool_use", "thinking", "redacted_thinking", "id", "name"),
        *("input", "output", "message", "toolUse", "reasoningContent", "reasoningText", "data"),
    ]
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.integers(), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)


@pytest.mark.parametrize("decode", [anthropic_answers.decode, bedrock_answers.decode])
@given(body=st.dictionaries(WORDS, ANYTHING, max_size=4))
def test_whatever_comes_is_read_or_refused(decode: Decode, body: dict[str, Any]) -> None:
    refused = None
    try:
        decode(body, Asked(model="m"))
    except InvalidAnswer as error:
        refused = error

    assert refused is None or refused.details["key"]
