"""The way back: a provider's answer becomes a stored message, its call ids and usage with it."""

import asyncio
from http import HTTPStatus
from typing import Any

import pytest

from app.encoders.formats import ENCODERS
from tests.api.client import (
    Api,
    Json,
    SessionApi,
    message,
    results,
    service,
    succeeded,
    text_block,
    tool_call,
    tool_result,
    user,
)
from tests.api.on_one_database import ON_SQLITE
from tests.api.reporting import series

LONG_ID = "call_PTLP8xhu3uwZk4l3nlnrrJha/very-long-and-with-a-slash-é"
HISTORY = [
    user("Look.", "m1"),
    message("assistant", [tool_call(LONG_ID)], "m2"),
    message("tool", [tool_result(LONG_ID)], "m3"),
]


def chat(**said: Any) -> Json:
    reason = "tool_calls" if "tool_calls" in said else "stop"
    return {
        "model": "model-a",
        "choices": [{"finish_reason": reason, "message": {"role": "assistant", **said}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
    }


ANSWERS: dict[str, Json] = {
    "openai.chat": chat(content="Done."),
    "mistral.chat": chat(content="Done."),
    "openai.responses": {
        "model": "model-a",
        "status": "completed",
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Done."}],
            }
        ],
        "usage": {"input_tokens": 100, "output_tokens": 7, "total_tokens": 107},
    },
    "anthropic.messages": {
        "model": "model-a",
        "content": [{"type": "text", "text": "Done."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 100, "output_tokens": 7},
    },
    "gemini.generate_content": {
        "modelVersion": "model-a",
        "candidates": [{"content": {"parts": [{"text": "Done."}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 7},
    },
    "bedrock.converse": {
        "output": {"message": {"role": "assistant", "content": [{"text": "Done."}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 100, "outputTokens": 7, "totalTokens": 107},
    },
}


async def post_answer(
    session: SessionApi, prepared: Json, of: str, body: Json, **fields: Any
) -> Any:
    given = {"response": {"format": of, "body": body}, "prepared_id": prepared["prepared_id"]}
    return await session.post("messages", {**given, **fields})


async def answered(session: SessionApi, prepared: Json, of: str, body: Json, **fields: Any) -> Json:
    return succeeded(await post_answer(session, prepared, of, body, **fields))


@pytest.mark.parametrize("of", ENCODERS)
async def test_an_answer_is_stored_with_its_usage_and_the_next_call_goes_on(
    api: Api, of: str
) -> None:
    session = await api.session()
    prepared = await session.prepare(format=of, append=HISTORY)
    stored = await answered(session, prepared, of, ANSWERS[of])
    (*_, last) = await session.messages()
    (report,) = await series(session)

    assert stored["messages"] == [
        {"id": prepared["prepared_id"].replace("prep-", "answer-"), "sequence": 4}
    ]
    assert (last["role"], last["content"]) == ("assistant", [text_block("Done.")])
    assert (report["input_tokens"], report["output_tokens"]) == (100, 7)
    assert report["prepared_id"] == prepared["prepared_id"]
    assert stored["usage"]["status"]["active_context_tokens"] == 107
    following = await session.prepare(format=of, append=[user("Go on.", "m5")])
    assert following["prefix"]["cause"] in (None, "encoding")


async def test_ids_that_the_request_replaced_are_the_conversations_own_again(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(format="mistral.chat", append=HISTORY)
    (made,) = prepared["call_ids"]
    calls = [{"id": made, "function": {"name": "read", "arguments": "{}"}}]
    await session.append(user("Again.", "m4"))
    await answered(session, prepared, "mistral.chat", chat(tool_calls=calls))
    (*_, last) = await session.messages()
    after = await session.prepare(append=[results(LONG_ID)])

    assert last["content"][0]["id"] == LONG_ID
    assert after["repairs"] == []


async def test_provider_state_is_for_the_model_as_it_was_asked(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(format="anthropic.messages", append=[user("q")])
    thought = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    body = {"model": "model-a-20260101", "content": [thought, {"type": "text", "text": "a"}]}
    await answered(session, prepared, "anthropic.messages", body)
    following = await session.prepare(format="anthropic.messages", append=[user("r")])

    assert following["request"]["messages"][1]["content"][0] == thought
    (*_, said, _) = await session.messages()
    assert said["content"][0]["provider_state"]["model"] == "model-a"


async def test_a_repeat_changes_nothing_also_of_two_workers_and_after_a_restart(
    api: Api, database_url: str
) -> None:
    session = await api.session()
    prepared = await session.prepare(format="openai.chat", append=HISTORY)
    body = ANSWERS["openai.chat"]
    posted = [post_answer(session, prepared, "openai.chat", body) for _ in range(4)]
    first = await asyncio.gather(*posted)
    async with service(database_url) as client:
        other = SessionApi(client=client, id=session.id, created=session.created)
        late = await post_answer(other, prepared, "openai.chat", body)

    assert sorted(response.status_code for response in first) == [200, 200, 200, 201]
    assert late.status_code == HTTPStatus.OK
    assert len({response.text for response in (*first, late)}) == 1
    assert len(await session.messages()) == 4
    assert len(await series(session)) == 1


@ON_SQLITE
async def test_another_answer_to_the_same_call_needs_an_id_of_its_own(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(format="openai.chat", append=HISTORY)
    await answered(session, prepared, "openai.chat", chat(content="One."))
    second = await post_answer(session, prepared, "openai.chat", chat(content="Two."))

    assert (second.status_code, second.json()["code"]) == (409, "message_conflict")


@ON_SQLITE
async def test_id_and_turn_are_as_they_are_given(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(format="openai.chat", append=HISTORY)
    await answered(session, prepared, "openai.chat", chat(content="a"), id="own/1", turn_id="t")
    (*_, last) = await session.messages()

    assert (last["id"], last["turn_id"]) == ("own/1", "t")


@ON_SQLITE
async def test_a_neutral_call_is_answered_in_whatever_format_the_worker_encoded_it(
    api: Api,
) -> None:
    session = await api.session()
    prepared = await session.prepare(append=HISTORY)
    await answered(session, prepared, "gemini.generate_content", ANSWERS["gemini.generate_content"])

    assert len(await session.messages()) == 4


@ON_SQLITE
async def test_an_answer_that_was_cut_off_is_told_to_the_policy(api: Api) -> None:
    session = await api.session(policy="awaken")
    prepared = await session.prepare(
        format="openai.chat", turn_id="t", model_call=1, append=HISTORY
    )
    body = chat(content="Half of")
    body["choices"][0]["finish_reason"] = "length"
    stored = await answered(session, prepared, "openai.chat", body, turn_id="t")

    assert stored["usage"]["decision"]["action"] == "continue"


@ON_SQLITE
async def test_an_empty_answer_is_a_message_without_content(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(format="gemini.generate_content", append=HISTORY)
    body = {"promptFeedback": {"blockReason": "SAFETY"}}
    await answered(session, prepared, "gemini.generate_content", body)
    (*_, last) = await session.messages()

    assert last["content"] == []


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"prepared_id": "prep-" + "0" * 32}, 404, "prepared_not_found"),
        ({"prepared_id": "x\x00"}, 404, "prepared_not_found"),
        ({"response": {"format": "mistral.chat", "body": chat()}}, 422, "invalid_answer"),
        ({"response": {"format": "openai.chat", "body": {}}}, 422, "invalid_answer"),
        ({"response": {"format": "openai", "body": {}}}, 422, "invalid_request"),
        ({"messages": []}, 422, "unknown_field"),
        ({"id": "prep-x"}, 422, "reserved_id"),
        ({"turn_id": ""}, 422, "invalid_id"),
        ({"expected_message_count": 9}, 409, "conversation_moved"),
        (
            {
                "response": {
                    "format": "openai.chat",
                    "body": {**chat(content="a"), "usage": {"prompt_tokens": -1}},
                }
            },
            422,
            "invalid_usage",
        ),
    ],
)
@ON_SQLITE
async def test_what_cannot_be_taken_is_refused_and_nothing_is_stored(
    api: Api, change: Json, status: int, code: str
) -> None:
    session = await api.session()
    prepared = await session.prepare(format="openai.chat", append=HISTORY)
    given = {
        "response": {"format": "openai.chat", "body": chat(content="a")},
        "prepared_id": prepared["prepared_id"],
    }
    refused = await session.post("messages", {**given, **change})

    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert len(await session.messages()) == 3
    assert await series(session) == []
