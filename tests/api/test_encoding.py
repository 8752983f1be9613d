"""Encode and decode: what a worker posts to its provider, and what it appends of the answer."""

from typing import Any

import pytest

from tests.api.client import Api, Json, assistant, calls, message, results, succeeded, user
from tests.api.compacting import refusal
from tests.api.on_one_database import ON_SQLITE

pytestmark = ON_SQLITE

LONG_ID = "call_PTLP8xhu3uwZk4l3nlnrrJha"
READ: Json = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}


async def encode(api: Api, *messages: Json, to: str = "openai.chat", **fields: Any) -> Json:
    request = {"model": "m", "messages": list(messages), **fields}
    body = {"format": to, "request": request}
    return succeeded(await api.client.post("/v1/encode", json=body))


async def decode(api: Api, body: Json, of: str = "openai.chat", **fields: Any) -> Json:
    given = {"format": of, "body": body, **fields}
    return succeeded(await api.client.post("/v1/decode", json=given))


async def test_a_request_is_said_in_the_words_of_chat_completions(api: Api) -> None:
    encoded = await encode(
        api,
        message("system", "You fix bugs."),
        user("Fix it."),
        calls("c1"),
        results("c1"),
        tools=[READ],
        max_output_tokens=100,
        temperature=0.5,
        stop=["END"],
    )

    assert encoded == {
        "body": {
            "model": "m",
            "messages": [
                {"role": "system", "content": "You fix bugs."},
                {"role": "user", "content": "Fix it."},
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
                },
                {"role": "tool", "tool_call_id": "c1", "content": "done"},
            ],
            "temperature": 0.5,
            "max_completion_tokens": 100,
            "stop": ["END"],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "read",
                        "description": "Read a file",
                        "parameters": {"type": "object"},
                    },
                }
            ],
        },
        "call_ids": {},
        "repairs": [],
    }


async def test_B047_ids_that_a_provider_refuses_are_replaced_and_come_back(api: Api) -> None:
    encoded = await encode(
        api, user("q"), calls(LONG_ID), results(LONG_ID), user("go on"), to="mistral.chat"
    )
    (made,) = encoded["call_ids"]
    sent = encoded["body"]["messages"]
    answer = {
        "choices": [
            {
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "tool_calls": [{"id": made, "function": {"name": "read", "arguments": "{}"}}],
                },
            }
        ]
    }
    decoded = await decode(api, answer, "mistral.chat", call_ids=encoded["call_ids"])

    assert len(made) == 9
    assert encoded["call_ids"] == {made: LONG_ID}
    assert (sent[1]["tool_calls"][0]["id"], sent[2]["tool_call_id"]) == (made, made)
    assert decoded["messages"][0]["content"][0]["id"] == LONG_ID


async def test_what_is_not_paired_is_paired_first_and_told(api: Api) -> None:
    encoded = await encode(api, user("q"), calls("c1"), user("stop"), results("c2"))

    assert [entry["role"] for entry in encoded["body"]["messages"]] == [
        *("user", "assistant", "tool", "user")
    ]
    assert [repair["code"] for repair in encoded["repairs"]] == [
        *("tool_result_synthesised", "orphan_tool_result_dropped")
    ]


async def test_a_prepared_request_is_taken_as_it_is(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(append=[user("q"), assistant("a"), user("r")])
    body = {"format": "openai.chat", "request": prepared["request"]}
    encoded = succeeded(await api.client.post("/v1/encode", json=body))

    assert [entry["content"] for entry in encoded["body"]["messages"]] == [
        *("You fix bugs.", "q", "a", "r")
    ]


async def test_an_answer_becomes_a_message_with_its_usage(api: Api) -> None:
    decoded = await decode(
        api,
        {
            "model": "m-1",
            "choices": [
                {"finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
        },
    )

    assert decoded["messages"] == [
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    ]
    assert (decoded["model"], decoded["finish_reason"]) == ("m-1", "stop")
    assert decoded["usage"]["input_tokens"] == 10
    session = await api.session()
    await session.append(user("q"), *decoded["messages"])


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"error": {"message": "no"}}])
async def test_what_is_no_answer_is_refused(api: Api, body: Json) -> None:
    given = {"format": "openai.chat", "body": body}
    response = await api.client.post("/v1/decode", json=given)

    assert refusal(response) == (422, "invalid_answer")


async def test_a_system_message_behind_another_one_is_refused(api: Api) -> None:
    request = {"model": "m", "messages": [user("q"), message("system", "s")]}
    body = {"format": "openai.chat", "request": request}
    response = await api.client.post("/v1/encode", json=body)

    assert refusal(response) == (422, "system_message_in_conversation")
    assert response.json()["item_index"] == 1


@pytest.mark.parametrize("path", ["encode", "decode"])
async def test_a_format_that_nobody_knows_is_refused(api: Api, path: str) -> None:
    body = {"format": "cobol", "request": {"model": "m", "messages": []}, "body": {}}
    response = await api.client.post(f"/v1/{path}", json=body)

    assert response.status_code == 422
