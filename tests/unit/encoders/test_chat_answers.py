from collections.abc import Mapping
from typing import Any

import pytest

from app.core.blocks import ProviderOpaque, ProviderState, Thinking, ToolCall, text_block
from app.encoders import mistral, mistral_answers, openai_chat_answers
from app.encoders.decoding import Asked, Decode, Decoded, InvalidAnswer
from app.encoders.encoding import EncodingRepair
from app.encoders.request import NeutralMessage
from tests.unit.core.builders import call, result
from tests.unit.encoders.builders import OPTIONS, neutral, said

DECODERS: list[Decode] = [openai_chat_answers.decode, mistral_answers.decode]


def completion(**message: object) -> dict[str, object]:
    return {
        "id": "1",
        "object": "chat.completion",
        "model": "model-1",
        "choices": [
            {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", **message}}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }


def function(id: object, name: object = "read", arguments: object = "{}") -> dict[str, object]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("decode", DECODERS)
def test_a_whole_answer_is_read(decode: Decode) -> None:
    body = completion(
        content="I will.", tool_calls=[function("abcDEF123"), function("c2", arguments="{broken")]
    )

    assert decode(body, Asked(call_ids={"abcDEF123": "call_long"})) == Decoded(
        blocks=(text_block("I will."), call("call_long"), call("c2", input="{broken")),
        model="model-1",
        finish_reason="tool_calls",
        usage={"prompt_tokens": 1, "completion_tokens": 2},
    )


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("message", [{"content": None}, {"content": ""}, {"tool_calls": None}, {}])
def test_an_answer_may_say_nothing(decode: Decode, message: dict[str, object]) -> None:
    decoded = decode({"choices": [{"message": message}]}, Asked())

    assert decoded == Decoded(blocks=(), model=None, finish_reason=None, usage=None)


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"a": [1, "é"]}, '{"a":[1,"é"]}'), (None, "{}"), ("", ""), ("[1", "[1")],
)
def test_arguments_are_kept_as_the_model_wrote_them(
    decode: Decode, arguments: object, text: str
) -> None:
    decoded = decode(completion(tool_calls=[function("c1", arguments=arguments)]), Asked())

    assert decoded.blocks == (call("c1", input=text),)


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("call_id", [None, "", "null"])
def test_calls_without_an_id_get_one_each(decode: Decode, call_id: object) -> None:
    body = completion(tool_calls=[function(call_id), function(call_id)])
    decoded = decode(body, Asked())
    ids = [block.id for block in decoded.blocks if isinstance(block, ToolCall)]

    assert len(set(ids)) == 2
    assert decoded == decode(body, Asked())
    assert decoded.repairs == tuple(
        EncodingRepair(code="call_id_renamed", message_index=None, call_id=made) for made in ids
    )


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "choices"),
        ({"error": {"message": "no"}}, "choices"),
        ({"choices": []}, "choices"),
        ({"choices": "x"}, "choices"),
        ({"choices": [{"delta": {}}]}, "choices.0.message"),
        ({"choices": ["x"]}, "choices.0.message"),
        (completion(content=7), "choices.0.message.content"),
        (completion(content=[7]), "choices.0.message.content.0"),
        (completion(tool_calls="x"), "choices.0.message.tool_calls"),
        (completion(tool_calls=["x"]), "choices.0.message.tool_calls.0"),
        (completion(tool_calls=[function("a", None)]), "choices.0.message.tool_calls.0"),
        (
            completion(tool_calls=[function("a", arguments=7)]),
            "choices.0.message.tool_calls.0.function.arguments",
        ),
    ],
)
def test_what_is_no_answer_is_refused(decode: Decode, body: Mapping[str, object], key: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        decode(body, Asked())

    assert refused.value.details == {"key": key}


@pytest.mark.parametrize(
    ("message", "blocks"),
    [
        ({"content": None, "refusal": "I cannot."}, (text_block("I cannot."),)),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]},
            (text_block("a"), text_block("b")),
        ),
        ({"content": None, "audio": {"id": "1", "transcript": "Hi."}}, (text_block("Hi."),)),
        (
            {"content": "a", "reasoning_content": "hm"},
            (Thinking(type="thinking", thinking="hm"), text_block("a")),
        ),
        (
            {"content": "a", "reasoning_content": "", "reasoning": "hm"},
            (Thinking(type="thinking", thinking="hm"), text_block("a")),
        ),
    ],
)
def test_what_openai_and_its_kin_say_beside_content(
    message: dict[str, Any], blocks: tuple[object, ...]
) -> None:
    assert openai_chat_answers.decode(completion(**message), Asked()).blocks == blocks


THOUGHTS: list[dict[str, object]] = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True},
    {
        "type": "thinking",
        "thinking": [
            {"type": "text", "text": "hm"},
            {"type": "reference", "reference_ids": [1]},
            {"type": "text", "text": "so"},
        ],
    },
    {"type": "reference", "reference_ids": [1]},
]


@pytest.mark.parametrize("chunk", THOUGHTS)
def test_chunks_of_mistral_are_sent_back_as_they_came(chunk: dict[str, object]) -> None:
    content = [chunk, {"type": "text", "text": "Done."}, {"type": "text", "text": ""}]
    decoded = mistral_answers.decode(completion(content=content), Asked())
    request = neutral(
        said("user", "x"),
        NeutralMessage(role="assistant", blocks=decoded.blocks),
        said("user", "x"),
    )

    assert mistral.encode(request, OPTIONS).elements[1]["content"] == content[:2]


def test_thinking_of_mistral_belongs_to_its_model_and_its_text_is_held_once() -> None:
    decoded = mistral_answers.decode(completion(content=[THOUGHTS[1], THOUGHTS[3]]), Asked())

    assert decoded.blocks == (
        Thinking(
            type="thinking",
            thinking="hm",
            provider_state=ProviderState(driver="mistral", model="model-1", data={"closed": True}),
        ),
        ProviderOpaque(
            type="provider_opaque", driver="mistral", kind="reference", payload=THOUGHTS[3]
        ),
    )
    nameless = {"choices": [{"message": {"content": [{"type": "thinking", "thinking": "hm"}]}}]}
    assert mistral_answers.decode(nameless, Asked()).blocks == (
        Thinking(type="thinking", thinking="hm"),
    )


def test_a_part_of_openai_without_text_is_refused() -> None:
    with pytest.raises(InvalidAnswer):
        openai_chat_answers.decode(completion(content=[{"type": "text"}]), Asked())


def test_thinking_without_parts_is_refused() -> None:
    with pytest.raises(InvalidAnswer):
        mistral_answers.decode(completion(content=[{"type": "thinking", "thinking": 7}]), Asked())


def test_B047_an_id_that_the_answer_repeats_is_the_conversations_own() -> None:
    request = neutral(
        said("user", "x"), said("assistant", call("call_long")), said("tool", result("call_long"))
    )
    encoded = mistral.encode(request, OPTIONS)
    (made,) = encoded.call_ids
    asked = Asked(call_ids=encoded.call_ids)
    decoded = mistral_answers.decode(completion(tool_calls=[function(made)]), asked)

    assert decoded.blocks == (call("call_long"),)


def test_thinking_is_kept_for_the_model_as_it_was_asked() -> None:
    answer = completion(content=[THOUGHTS[0]])
    (thinking,) = mistral_answers.decode(answer, Asked(model="model-latest")).blocks

    assert isinstance(thinking, Thinking)
    assert thinking.provider_state is not None
    assert thinking.provider_state.model == "model-latest"
