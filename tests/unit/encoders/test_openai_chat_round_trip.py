"""What came in OpenAI's words goes out in them as it came, but for what the docs list."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.core.blocks import ToolCall, text_block
from app.encoders.decoding import Asked
from app.encoders.openai_chat import encode
from app.encoders.openai_chat_answers import decode
from app.encoders.request import NeutralMessage
from tests.unit.core.builders import result
from tests.unit.encoders.builders import OPTIONS, neutral

CHAT = Path(__file__).parents[2] / "data" / "chat"


def read_messages(name: str) -> list[Any]:
    messages: list[Any] = json.loads((CHAT / name).read_text(encoding="utf-8"))["messages"]
    return messages


def as_neutral(message: Any) -> NeutralMessage:
    texts = [] if message["content"] is None else [message["content"]]
    if message["role"] == "tool":
        return NeutralMessage(role="tool", blocks=(result(message["tool_call_id"], *texts),))
    calls = [
        ToolCall(
            type="tool_call",
            id=call["id"],
            name=call["function"]["name"],
            input=call["function"]["arguments"],
        )
        for call in message.get("tool_calls", [])
    ]
    return NeutralMessage(role=message["role"], blocks=(*map(text_block, texts), *calls))


def as_sent(message: Any) -> Any:
    """The message with what is documented to change."""
    if message["role"] != "tool":
        return message
    return {
        "role": "tool",
        "tool_call_id": message["tool_call_id"],
        "content": message["content"] or "(no output)",
    }


@pytest.mark.parametrize("name", sorted(path.name for path in CHAT.glob("*.json")))
def test_a_transcript_goes_out_as_it_came_in(name: str) -> None:
    system, *messages = read_messages(name)
    request = neutral(*map(as_neutral, messages), system=(system["content"],))
    encoded = encode(request, OPTIONS)

    assert list(encoded.elements) == [system, *map(as_sent, messages)]
    assert {repair.code for repair in encoded.repairs} <= {
        "empty_text_dropped",
        "placeholder_added",
    }


@pytest.mark.parametrize("name", sorted(path.name for path in CHAT.glob("*.json")))
def test_an_answer_that_is_read_is_sent_as_it_was(name: str) -> None:
    answers = [message for message in read_messages(name) if message["role"] == "assistant"]

    for answer in answers:
        decoded = decode({"choices": [{"message": answer}]}, Asked())
        request = neutral(NeutralMessage(role="assistant", blocks=decoded.blocks))
        assert encode(request, OPTIONS).elements == (answer,)
