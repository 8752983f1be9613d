"""Neutral requests as chat completions."""

import json
from typing import Any

import pytest

from app.core import canonical
from app.summarizer.chat_request import chat_request

Json = dict[str, Any]

RESULT = {"type": "tool_result", "id": "c1", "name": "read", "state": "success"}


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def medium(media_type: str, **fields: str) -> Json:
    kind = "url" if "url" in fields else "base64"
    source = {"source_type": kind, **fields, "media_type": media_type}
    return {"type": "data", "source": source, "name": None}


def neutral(*messages: tuple[str, list[Json]], tools: tuple[Json, ...] = ()) -> bytes:
    return canonical.encode(
        {
            "model": "model-a",
            "messages": [{"role": role, "content": content} for role, content in messages],
            "temperature": None,
            "top_p": None,
            "max_output_tokens": 900,
            "thinking": {"mode": "disabled"},
            "tools": list(tools),
        }
    )


def mapped(request: bytes, model: str | None = None) -> Json:
    body: Json = json.loads(chat_request(request, model, "max_tokens"))
    return body


def test_a_request_streams_and_asks_for_its_usage() -> None:
    body = mapped(neutral(("system", [text("Be brief.")]), ("user", [text("Hi"), text("you")])))

    assert body == {
        "model": "model-a",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi\n\nyou"},
        ],
        "max_tokens": 900,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_the_model_and_the_name_of_the_limit_can_be_others() -> None:
    body = json.loads(chat_request(neutral(), "small", "max_completion_tokens"))

    assert body == {
        "model": "small",
        "messages": [],
        "max_completion_tokens": 900,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_tools_are_functions() -> None:
    tool = {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}

    assert mapped(neutral(tools=(tool,)))["tools"] == [{"type": "function", "function": tool}]


@pytest.mark.parametrize(
    ("role", "content", "messages"),
    [
        (
            "assistant",
            [
                {"type": "thinking", "thinking": "Hm."},
                text("Reading."),
                {"type": "tool_call", "id": "c1", "name": "read", "input": '{"a":1}'},
            ],
            [
                {
                    "role": "assistant",
                    "content": "Reading.",
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "read", "arguments": '{"a":1}'},
                        }
                    ],
                }
            ],
        ),
        (
            "assistant",
            [{"type": "tool_call", "id": "c1", "name": "read", "input": "{}"}],
            [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "read", "arguments": "{}"},
                        }
                    ],
                }
            ],
        ),
        ("assistant", [text("Done.")], [{"role": "assistant", "content": "Done."}]),
        ("assistant", [{"type": "thinking", "thinking": "Hm."}], []),
        (
            "tool",
            [
                {**RESULT, "output": [text("a"), medium("image/png", data="QQ==")]},
                {**RESULT, "id": "c2", "output": []},
            ],
            [
                {
                    "role": "tool",
                    "tool_call_id": "c1",
                    "content": "a\n\n[media left out: image/png]",
                },
                {"role": "tool", "tool_call_id": "c2", "content": ""},
            ],
        ),
        (
            "user",
            [text("See"), medium("image/png", data="QQ=="), medium("image/jpeg", url="https://i")],
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "See"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}},
                        {"type": "image_url", "image_url": {"url": "https://i"}},
                    ],
                }
            ],
        ),
        (
            "user",
            [
                medium("application/pdf", data="QQ=="),
                {
                    "type": "data",
                    "source": {"source_type": "file_id", "id": "f"},
                    "name": "a.png",
                },
            ],
            [
                {
                    "role": "user",
                    "content": "[media left out: application/pdf]\n\n[media left out: file, a.png]",
                }
            ],
        ),
    ],
    ids=[
        "a call after text, without reasoning",
        "a call alone",
        "text",
        "reasoning alone",
        "a message per result",
        "images as parts",
        "other media as notes",
    ],
)
def test_what_a_message_becomes(role: str, content: list[Json], messages: list[Json]) -> None:
    assert mapped(neutral((role, content)))["messages"] == messages
