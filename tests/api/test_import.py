"""Import: a transcript becomes a session, whose requests say what it said."""

import json
from typing import Any

import pytest

from app.encoders.formats import ENCODERS
from tests.api.client import Api, Json, SessionApi, succeeded, text_block
from tests.api.compacting import refusal
from tests.api.on_one_database import ON_SQLITE
from tests.api.transcripts import CHAT_TRANSCRIPTS, chat_transcript, coding_session

BATCH = 500
FORMATS = sorted(ENCODERS)

CALL: Json = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CHAT: list[Json] = [
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "r"},
    {"role": "assistant", "content": "a"},
]
USE: Json = {"type": "tool_use", "id": "c1", "name": "read", "input": {}}
RESULT: Json = {"type": "tool_result", "tool_use_id": "c1", "content": "r"}
ITEMS: list[Json] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q"}]},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "r"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
]
TRANSCRIPTS: dict[str, Any] = {
    "openai.chat": {"messages": CHAT},
    "mistral.chat": CHAT,
    "openai.responses": {"input": ITEMS},
    "anthropic.messages": {
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [RESULT]},
            {"role": "assistant", "content": "a"},
        ]
    },
    "gemini.generate_content": {
        "contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "read"}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "r"}}}
                ],
            },
            {"role": "model", "parts": [{"text": "a"}]},
        ]
    },
    "bedrock.converse": {
        "messages": [
            {"role": "user", "content": [{"text": "q"}]},
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "c1", "name": "read", "input": {}}}],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "r"}]}}],
            },
            {"role": "assistant", "content": [{"text": "a"}]},
        ]
    },
    "claude_code.jsonl": "\n".join(
        json.dumps({"type": role, "message": {"role": role, "content": content}})
        for role, content in [
            ("user", "q"),
            ("assistant", [USE]),
            ("user", [RESULT]),
            ("assistant", [text_block("a")]),
        ]
    ),
    "codex.rollout": "\n".join(
        json.dumps({"type": "response_item", "payload": item}) for item in ITEMS
    ),
    "langchain.messages": [
        {"type": "human", "content": "q"},
        {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "read", "args": {}}]},
        {"type": "tool", "tool_call_id": "c1", "content": "r"},
        {"type": "ai", "content": "a"},
    ],
    "inspect.messages": [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": "read", "arguments": {}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {"role": "assistant", "content": "a"},
    ],
}


async def import_of(api: Api, name: str, transcript: object, **fields: Any) -> Json:
    body = {"format": name, "transcript": transcript, **fields}
    return succeeded(await api.client.post("/v1/import", json=body))


async def session_of(api: Api, imported: Json, session_id: str = "s") -> SessionApi:
    """A session with all that was imported, its messages appended as they are."""
    agent = {"system_parts": imported["system_parts"], "tools": imported["tools"]}
    session = await api.session(session_id, agent=agent)
    messages = imported["messages"]
    for start in range(0, len(messages), BATCH):
        await session.append(*messages[start : start + BATCH])
    return session


async def encoded(api: Api, request: Json, to: str) -> Json:
    body = {"format": to, "request": request}
    return succeeded(await api.client.post("/v1/encode", json=body))


@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_a_transcript_becomes_a_session_that_says_the_same(api: Api, name: str) -> None:
    imported = await import_of(api, name, TRANSCRIPTS[name])
    session = await session_of(api, imported)
    prepared = await session.prepare()
    sent = await encoded(api, prepared["request"], "openai.chat")

    assert (imported["repairs"], imported["skipped"]) == ([], [])
    assert sent["body"]["messages"] == CHAT


@ON_SQLITE
@pytest.mark.parametrize("name", CHAT_TRANSCRIPTS)
async def test_a_chat_transcript_goes_through_a_session_as_it_was(api: Api, name: str) -> None:
    transcript = chat_transcript(name)
    imported = await import_of(api, "openai.chat", transcript)
    session = await session_of(api, imported)
    request = (await session.prepare())["request"]
    sent = await encoded(api, request, "openai.chat")

    assert sent["body"]["messages"] == [as_sent(each) for each in transcript["messages"]]
    for other in FORMATS:
        await encoded(api, request, other)


@ON_SQLITE
@pytest.mark.parametrize("name", FORMATS)
async def test_the_coding_session_comes_back_from_a_body(api: Api, name: str) -> None:
    messages = [{key: each[key] for key in ("role", "content")} for each in coding_session()]
    # Behind an answer that is last some formats say a word of their own, which is then the user's.
    messages.append({"role": "user", "content": "Go on."})
    body = (await encoded(api, {"model": "m", "messages": messages}, name))["body"]
    imported = await import_of(api, name, body, model="m")
    again = {"model": "m", "messages": imported["messages"]}

    assert (await encoded(api, again, name))["body"] == body
    await session_of(api, {**imported, "system_parts": [], "tools": []})


@ON_SQLITE
async def test_damaged_lines_are_skipped_and_surrogates_are_told(api: Api) -> None:
    rows = ['{"type": "human", "content": "\\ud800"}', "{", '{"type": "robot"}']
    imported = await import_of(api, "langchain.messages", "\n".join(rows))

    assert imported["skipped"] == [
        {"line": 2, "code": "not_json"},
        {"line": 3, "code": "invalid_message"},
    ]
    assert imported["repairs"] == [{"code": "lone_surrogate_replaced", "message_index": 0}]


@ON_SQLITE
async def test_what_cannot_be_read_at_all_is_refused_with_its_path(api: Api) -> None:
    body = {"format": "openai.chat", "transcript": {"messages": [{"role": "robot"}]}}
    response = await api.client.post("/v1/import", json=body)

    assert refusal(response) == (422, "invalid_transcript")
    assert response.json()["key"] == "transcript.messages.0.role"


@ON_SQLITE
@pytest.mark.parametrize(
    "fields", [{}, {"format": "cobol", "transcript": []}, {"format": "openai.chat"}]
)
async def test_a_body_without_a_known_format_and_a_transcript_is_refused(
    api: Api, fields: Json
) -> None:
    response = await api.client.post("/v1/import", json=fields)

    assert refusal(response) == (422, "invalid_request")


@ON_SQLITE
async def test_a_model_that_the_transcript_does_not_name_may_be_given(api: Api) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "x"}
    transcript = [{"role": "assistant", "content": [thinking]}]
    imported = await import_of(api, "anthropic.messages", transcript, model="claude-x")

    (block,) = imported["messages"][0]["content"]
    assert block["provider_state"]["model"] == "claude-x"


def as_sent(message: Json) -> Json:
    """The message with what is documented to change."""
    if message["role"] != "tool":
        return message
    return {
        "role": "tool",
        "tool_call_id": message["tool_call_id"],
        "content": message["content"] or "(no output)",
    }
