"""Bodies of OpenAI's and Mistral's chat APIs."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.encoders import openai_chat
from app.encoders.request import NeutralMessage, NeutralRequest, NeutralTool
from app.importers.transcript import InvalidTranscript
from tests.unit.encoders.builders import OPTIONS
from tests.unit.importers.builders import (
    Json,
    call,
    imported,
    messages_of,
    result,
    state,
    system_of,
    text,
    told,
)

CHAT = Path(__file__).parents[2] / "data" / "chat"
PNG: Json = {"source_type": "base64", "data": "AAAA", "media_type": "image/png"}


def wire_call(call_id: str | None, name: str = "read", arguments: str = "{}") -> Json:
    named = {} if call_id is None else {"id": call_id}
    return {**named, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_body_becomes_system_parts_tools_and_messages() -> None:
    found = imported(
        "openai.chat",
        {
            "model": "m",
            "temperature": 1,
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "developer", "content": [{"type": "text", "text": "d"}]},
                {"role": "user", "content": "q"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [wire_call("c 1", arguments='{"a": 1}')],
                },
                {"role": "tool", "tool_call_id": "c 1", "name": "read", "content": ""},
                {"role": "assistant", "content": "a"},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "read",
                        "description": "R",
                        "parameters": {"type": "object"},
                        "strict": True,
                    },
                },
                {"type": "custom", "custom": {"name": "x"}},
            ],
        },
    )

    assert system_of(found) == [("imported/0", [text("s")]), ("imported/1", [text("d")])]
    assert messages_of(found) == [
        ("user", [text("q")]),
        ("assistant", [call("c 1", arguments='{"a": 1}')]),
        ("tool", [result("c 1", "", name="read")]),
        ("assistant", [text("a")]),
    ]
    (tool,) = found.tools
    assert (tool.name, tool.description, tool.parameters) == ("read", "R", {"type": "object"})
    assert told(found) == [
        ("setting_left_out", "temperature"),
        ("field_left_out", "tools.read.strict"),
        ("tool_left_out", "custom"),
    ]


PARTS: list[tuple[str, Json, Json]] = [
    (
        "openai.chat",
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "data", "source": PNG},
    ),
    (
        "openai.chat",
        {"type": "image_url", "image_url": {"url": "https://a.test/b"}},
        {
            "type": "data",
            "source": {"source_type": "url", "url": "https://a.test/b", "media_type": "image/*"},
        },
    ),
    (
        "openai.chat",
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "data", "source": {**PNG, "media_type": "audio/mpeg"}},
    ),
    (
        "openai.chat",
        {
            "type": "file",
            "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,AAAA"},
        },
        {"type": "data", "source": {**PNG, "media_type": "application/pdf"}, "name": "b.pdf"},
    ),
    (
        "openai.chat",
        {"type": "file", "file": {"file_id": "f"}},
        {"type": "data", "source": {"source_type": "file_id", "id": "f"}},
    ),
    (
        "openai.chat",
        {"type": "hologram", "x": 1},
        {
            "type": "provider_opaque",
            "driver": "openai",
            "kind": "hologram",
            "payload": {"type": "hologram", "x": 1},
        },
    ),
    (
        "mistral.chat",
        {"type": "image_url", "image_url": "data:image/png;base64,AAAA"},
        {"type": "data", "source": PNG},
    ),
    (
        "mistral.chat",
        {"type": "document_url", "document_url": "https://a.test/b", "document_name": "b"},
        {
            "type": "data",
            "source": {
                "source_type": "url",
                "url": "https://a.test/b",
                "media_type": "application/pdf",
            },
            "name": "b",
        },
    ),
    (
        "mistral.chat",
        {"type": "input_audio", "input_audio": "UklGRAAA"},
        {"type": "data", "source": {**PNG, "data": "UklGRAAA", "media_type": "audio/wav"}},
    ),
    (
        "mistral.chat",
        {"type": "file", "file_id": "f"},
        {"type": "data", "source": {"source_type": "file_id", "id": "f"}},
    ),
]


@pytest.mark.parametrize(("name", "part", "block"), PARTS)
def test_a_part_becomes_a_block(name: Any, part: Json, block: Json) -> None:
    found = imported(name, [{"role": "user", "content": [part]}])

    assert messages_of(found) == [("user", [block])]


def test_what_has_no_place_in_a_message_is_told() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://a.test/b", "detail": "low"}}
    found = imported("openai.chat", [{"role": "user", "name": "n", "content": [image]}])

    assert told(found) == [("field_left_out", 0, "name"), ("field_left_out", 0, "detail")]


def test_a_system_message_in_the_middle_stays_there_in_a_frame() -> None:
    found = imported(
        "openai.chat",
        [{"role": "user", "content": "q"}, {"role": "developer", "content": "be brief"}],
    )

    assert found.system_parts == ()
    assert messages_of(found)[1] == (
        "user",
        [text("<system_message>"), text("be brief"), text("</system_message>")],
    )
    assert told(found) == [("system_message_framed", 1, "developer")]


def test_a_call_and_a_result_of_the_old_api_pair_by_name() -> None:
    found = imported(
        "openai.chat",
        [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "read", "arguments": "{"},
            },
            {"role": "function", "name": "read", "content": "r"},
        ],
    )
    (made,) = (block for block in found.messages[0].blocks)

    assert [message.role for message in found.messages] == ["assistant", "tool"]
    assert [block.id for block in found.messages[1].blocks] == [made.id]  # type: ignore[union-attr]
    assert [code for code, *_ in told(found)] == ["call_id_made", "result_paired_by_name"]


def test_a_call_of_a_custom_tool_keeps_its_text() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    found = imported("openai.chat", [{"role": "assistant", "tool_calls": [custom]}])

    assert messages_of(found) == [("assistant", [call("c", "patch", "*** Begin")])]
    assert told(found) == [("field_left_out", 0, "custom")]


def test_thinking_of_mistral_is_kept_for_the_model_of_the_body() -> None:
    chunk = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True}
    found = imported(
        "mistral.chat",
        {"model": "m", "messages": [{"role": "assistant", "content": [chunk], "prefix": True}]},
    )

    thinking = {"type": "thinking", "thinking": "hm", **state("mistral", {"closed": True})}
    assert messages_of(found) == [("assistant", [thinking])]
    assert told(found) == []


REFUSED: list[tuple[object, str]] = [
    (1, "transcript"),
    ("{", "transcript"),
    ({"messages": {}}, "transcript.messages"),
    ([1], "transcript.0"),
    ([{"role": "robot"}], "transcript.0.role"),
    ({"messages": [{"role": "user", "content": [{}]}]}, "transcript.messages.0.content.0.type"),
    ([{"role": "assistant", "content": 1}], "transcript.0.content"),
    ([{"role": "assistant", "tool_calls": [{}]}], "transcript.0.tool_calls.0"),
    ({"tools": []}, "transcript.messages"),
    ({"messages": [], "tools": [{"function": {}}]}, "transcript.tools.0.name"),
]


@pytest.mark.parametrize(("transcript", "key"), REFUSED)
def test_what_has_no_known_shape_is_refused_with_its_path(transcript: object, key: str) -> None:
    with pytest.raises(InvalidTranscript) as refused:
        imported("openai.chat", transcript)

    assert refused.value.details["key"] == key


@pytest.mark.parametrize("name", sorted(path.name for path in CHAT.glob("*.json")))
def test_a_transcript_goes_out_as_it_came_in(name: str) -> None:
    written = (CHAT / name).read_text(encoding="utf-8")
    body = json.loads(written)
    found = imported("openai.chat", written)
    request = NeutralRequest(
        model="m",
        system=tuple(part.content for part in found.system_parts),
        messages=tuple(
            NeutralMessage(role=message.role, blocks=message.blocks) for message in found.messages
        ),
        tools=tuple(
            NeutralTool(name=tool.name, description=tool.description, parameters=tool.parameters)
            for tool in found.tools
        ),
        generation={},
        max_output_tokens=None,
    )

    assert found.repairs == ()
    sent = openai_chat.encode(request, OPTIONS).body()
    assert sent["messages"] == [as_sent(message) for message in body["messages"]]
    assert sent.get("tools") == body.get("tools")


def as_sent(message: Json) -> Json:
    """The message with what is documented to change."""
    if message["role"] != "tool":
        return message
    return {
        "role": "tool",
        "tool_call_id": message["tool_call_id"],
        "content": message["content"] or "(no output)",
    }
