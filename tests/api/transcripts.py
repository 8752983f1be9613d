"""The real transcripts of tests/data as messages that can be appended."""

import json
from pathlib import Path

from tests.api.client import Json, text_block

DATA = Path(__file__).parents[1] / "data"
REPORTED = ("observed_usage", "stop_reason")
"""What a provider reported beside a message; no part of it."""


def coding_session() -> list[Json]:
    """The 914 messages of the coding session."""
    lines = (DATA / "coding" / "session-914.jsonl").read_text(encoding="utf-8").splitlines()
    messages: list[Json] = [json.loads(line) for line in lines]
    return [
        {key: value for key, value in message.items() if key not in REPORTED}
        for message in messages
    ]


def turns(messages: list[Json]) -> list[list[Json]]:
    """The messages from each of the user's to before the next, every one with its turn's id."""
    grouped: list[list[Json]] = []
    for message in messages:
        if message["role"] == "user":
            grouped.append([])
        grouped[-1].append({**message, "turn_id": f"turn-{len(grouped)}"})
    return grouped


CHAT_TRANSCRIPTS = sorted(path.stem for path in (DATA / "chat").glob("*.json"))


def chat_transcript(name: str) -> Json:
    """A transcript in the format of OpenAI's chat API."""
    transcript: Json = json.loads((DATA / "chat" / f"{name}.json").read_text(encoding="utf-8"))
    return transcript


def agent_of(transcript: Json) -> Json:
    """The agent of a chat transcript: its system message and its tools."""
    system, *_ = transcript["messages"]
    return {
        "system_prompt": system["content"],
        "tools": [tool["function"] for tool in transcript.get("tools", [])],
    }


def messages_of(transcript: Json) -> list[Json]:
    """The messages of a chat transcript after its system message."""
    _, *messages = transcript["messages"]
    return [_converted(message) for message in messages]


def _converted(message: Json) -> Json:
    text = [] if message["content"] is None else [text_block(message["content"])]
    if message["role"] == "tool":
        result = {"type": "tool_result", "id": message["tool_call_id"], "output": text}
        return {"role": "tool", "content": [result]}
    calls = [
        {
            "type": "tool_call",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": call["function"]["arguments"],
        }
        for call in message.get("tool_calls", [])
    ]
    return {"role": message["role"], "content": [*text, *calls]}
