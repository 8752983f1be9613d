"""Gemini's generateContent: contents, signatures on parts, settings, and the way back."""

from collections.abc import Mapping
from dataclasses import replace
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
    Text,
    Thinking,
    UrlSource,
)
from app.encoders.decoding import Asked, InvalidAnswer
from app.encoders.gemini import encode
from app.encoders.gemini_answers import decode
from app.encoders.request import NeutralMessage, NeutralTool
from tests.unit.core.builders import call, result
from tests.unit.encoders.builders import OPTIONS, READ, neutral, said, told

NEW, OLD = "gemini-3-pro", "gemini-2.5-flash"
STATE = ProviderState(driver="gemini", model=NEW, data={"thoughtSignature": "c2ln"})
PNG = Data(
    type="data",
    source=Base64Source(source_type="base64", data="AAAA", media_type="image/png"),
    name="a.png",
)


def contents(*messages: NeutralMessage, model: str = NEW) -> list[Any]:
    return list(encode(neutral(*messages, model=model), OPTIONS).elements)


def test_a_conversation_is_contents_of_two_speakers() -> None:
    sent = contents(
        said("user", "q"),
        said("assistant", "I look.", call("c1"), call("c2")),
        said("tool", replace(result("c1", "x"), name="read")),
        said("tool", replace(result("c2", "y", "z", state="error"), name="read")),
        said("assistant", "a"),
        said("user", "r"),
        model=OLD,
    )

    assert sent == [
        {"role": "user", "parts": [{"text": "q"}]},
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"id": "c1", "name": "read", "args": {}}},
                {"functionCall": {"id": "c2", "name": "read", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "x"}}},
                {"functionResponse": {"id": "c2", "name": "read", "response": {"error": "y\nz"}}},
            ],
        },
        {"role": "model", "parts": [{"text": "a"}]},
        {"role": "user", "parts": [{"text": "r"}]},
    ]


def test_B034_a_signature_stays_on_its_call_and_is_for_its_model() -> None:
    signed = replace(call("c1"), provider_state=STATE)
    messages = said("user", "q"), said("assistant", signed), said("tool", result("c1"))

    assert contents(*messages)[1]["parts"][0]["thoughtSignature"] == "c2ln"
    assert "thoughtSignature" not in contents(*messages, model=OLD)[1]["parts"][0]


def test_B035_a_call_without_a_signature_gets_the_documented_word_and_it_is_told() -> None:
    messages = (
        said("user", "q"),
        said("assistant", call("c1"), call("c2")),
        said("tool", result("c1")),
        said("tool", result("c2")),
    )
    encoded = encode(neutral(*messages, model=NEW), OPTIONS)
    parts: Any = encoded.elements[1]["parts"]

    assert [part.get("thoughtSignature") for part in parts] == [
        "skip_thought_signature_validator",
        None,
    ]
    assert ("signature_placeholder", "c1") in told(encoded)
    assert "skip_" not in str(contents(*messages, model=OLD))


def test_signatures_of_texts_and_thoughts_go_back_to_their_model() -> None:
    thought = Thinking(type="thinking", thinking="hm", provider_state=STATE)
    text = Text(type="text", text="a", provider_state=STATE)
    messages = said("user", "q"), said("assistant", thought, text), said("user", "r")

    assert contents(*messages)[1]["parts"] == [
        {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "a", "thoughtSignature": "c2ln"},
    ]
    assert contents(*messages, model=OLD)[1]["parts"] == [{"text": "a"}]


def test_B029_thoughts_without_a_signature_are_left_out() -> None:
    thought = Thinking(type="thinking", thinking="hm")

    assert contents(said("user", "q"), said("assistant", thought, "a"))[1]["parts"] == [
        {"text": "a"}
    ]


def test_media_of_results_are_inside_for_new_models_and_behind_for_others() -> None:
    inline = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    messages = said("user", "q"), said("assistant", call("c1")), said("tool", result("c1", PNG))
    new, old = contents(*messages), contents(*messages, model=OLD)

    assert new[2]["parts"][0]["functionResponse"]["parts"] == [inline]
    assert len(new[2]["parts"]) == 1
    assert old[2]["parts"][1] == inline
    assert "parts" not in old[2]["parts"][0]["functionResponse"]


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (
            UrlSource(source_type="url", url="https://a.test", media_type="video/mp4"),
            {"fileData": {"fileUri": "https://a.test", "mimeType": "video/mp4"}},
        ),
        (FileIdSource(source_type="file_id", id="f1"), {"fileData": {"fileUri": "f1"}}),
        (
            Base64Source(source_type="base64", data="AAAA", media_type="image/gif"),
            {"text": "[media left out: image/gif]"},
        ),
        (
            UrlSource(source_type="url", url="https://a.test", media_type="image/*"),
            {"text": "[media left out: image/*]"},
        ),
    ],
)
def test_media_are_data_or_files(source: Any, part: object) -> None:
    assert contents(said("user", Data(type="data", source=source)))[0]["parts"][0] == part


@pytest.mark.parametrize(
    ("settings", "config"),
    [
        (
            {"temperature": 0.5, "top_p": 0.9, "top_k": 3, "stop": "x", "seed": 1},
            {"temperature": 0.5, "topP": 0.9, "topK": 3, "stopSequences": ["x"], "seed": 1},
        ),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 9}},
            {"thinkingConfig": {"thinkingBudget": 9, "includeThoughts": True}},
        ),
        ({"thinking": {"type": "disabled"}}, {"thinkingConfig": {"thinkingBudget": 0}}),
        ({"thinking": {"thinkingLevel": "LOW"}}, {"thinkingConfig": {"thinkingLevel": "LOW"}}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"a": 1}}}},
            {"responseMimeType": "application/json", "responseJsonSchema": {"a": 1}},
        ),
        ({"reasoning_effort": "low"}, {}),
    ],
)
def test_settings_have_their_places(settings: dict[str, Any], config: Any) -> None:
    encoded = encode(neutral(said("user", "q"), generation=settings), OPTIONS)

    assert encoded.fields.get("generationConfig", {}) == config


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ({"name": "read"}, {"mode": "ANY", "allowedFunctionNames": ["read"]}),
    ],
)
def test_a_choice_is_said_in_google_s_words(choice: object, config: object) -> None:
    fields = encode(
        neutral(said("user", "q"), tools=(READ,), generation={"tool_choice": choice}), OPTIONS
    ).fields

    assert fields["toolConfig"] == {"functionCallingConfig": config}


def test_tools_have_their_schema_whole() -> None:
    bare = NeutralTool(name="t", description="d", parameters={})
    fields: Any = encode(neutral(said("user", "q"), tools=(READ, bare)), OPTIONS).fields

    assert fields["tools"][0]["functionDeclarations"] == [
        {
            "name": "read",
            "description": "Read a file",
            "parametersJsonSchema": {"type": "object"},
        },
        {"name": "t", "description": "d"},
    ]


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-3-pro", "/v1beta/models/gemini-3-pro:generateContent"),
        ("models/gemini-3-pro", "/v1beta/models/gemini-3-pro:generateContent"),
        ("tunedModels/a b", "/v1beta/tunedModels/a%20b:generateContent"),
    ],
)
def test_the_model_is_in_the_address(model: str, path: str) -> None:
    encoded = encode(neutral(said("user", "q"), model=model, system=("s", "t")), OPTIONS)

    assert encoded.target is not None
    assert encoded.target.path == path
    assert "model" not in encoded.body()
    assert encoded.fields["systemInstruction"] == {"parts": [{"text": "s"}, {"text": "t"}]}


PARTS: list[dict[str, Any]] = [
    {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
    {"text": "I look.", "thoughtSignature": "c2ln"},
    {"executableCode": {"language": "PYTHON", "code": "1"}},
    {"functionCall": {"id": "c1", "name": "read", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
]


def test_an_answer_is_read_whole_and_sent_as_it_was() -> None:
    body = {
        "candidates": [
            {"content": {"role": "model", "parts": PARTS}, "finishReason": "STOP", "index": 0}
        ],
        "usageMetadata": {"promptTokenCount": 1},
        "modelVersion": "gemini-3-pro-001",
    }
    decoded = decode(body, Asked(model=NEW))
    sent = contents(
        said("user", "q"),
        NeutralMessage(role="assistant", blocks=decoded.blocks),
        said("tool", result("c1")),
    )

    assert (decoded.model, decoded.finish_reason) == ("gemini-3-pro-001", "STOP")
    assert decoded.usage == {"promptTokenCount": 1}
    assert isinstance(decoded.blocks[2], ProviderOpaque)
    assert sent[1]["parts"] == PARTS


def test_a_call_without_an_id_gets_one_and_another_s_is_the_conversations_own() -> None:
    parts = [
        {"functionCall": {"name": "read"}},
        {"functionCall": {"name": "read"}},
        {"functionCall": {"id": "made", "name": "read"}},
    ]
    body = {"candidates": [{"content": {"parts": parts}}]}
    blocks = decode(body, Asked(call_ids={"made": "own"})).blocks
    ids = [getattr(block, "id", None) for block in blocks]

    assert ids[2] == "own"
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "SAFETY"),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, "MAX_TOKENS"),
        ({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}, "STOP"),
    ],
)
def test_an_answer_may_say_nothing(body: dict[str, Any], reason: str) -> None:
    decoded = decode(body, Asked())

    assert (decoded.blocks, decoded.finish_reason) == ((), reason)


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({}, "candidates"),
        ({"candidates": []}, "candidates"),
        ({"candidates": [7]}, "candidates.0"),
        ({"candidates": [{"content": 7}]}, "candidates.0.content"),
        ({"candidates": [{"content": {"parts": 7}}]}, "candidates.0.content.parts"),
        (
            {"candidates": [{"content": {"parts": [{"text": 7}]}}]},
            "candidates.0.content.parts.0.text",
        ),
        (
            {"candidates": [{"content": {"parts": [{"functionCall": {}}]}}]},
            "candidates.0.content.parts.0.functionCall.name",
        ),
    ],
)
def test_what_is_no_answer_is_refused(body: Mapping[str, object], key: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        decode(body, Asked())

    assert refused.value.details == {"key": key}


WORDS = st.sampled_from(
    [
        *("candidates", "content", "parts", "text", "thought", "thoughtSignature", "name"),
        *("functionCall", "args", "id", "promptFeedback", "blockReason", "finishReason"),
    ]
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), WORDS),
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
