"""Messages over HTTP: appended all or none, repeated without harm, read as they were appended."""

import json
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import (
    Api,
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    text_block,
    tool_call,
    tool_result,
    user,
)
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement


async def append(session: SessionApi, *messages: Json, **fields: Any) -> httpx.Response:
    return await session.post("messages", {"messages": list(messages), **fields})


async def refused(session: SessionApi, *messages: Json, **fields: Any) -> tuple[int, str]:
    response = await append(session, *messages, **fields)
    return response.status_code, response.json()["code"]


async def contents(session: SessionApi) -> list[Any]:
    return [stored["content"] for stored in await session.messages()]


@requirement("OW-4.1-append-is-the-only-writer", "OW-4.1-real-items")
async def test_C2_a_call_and_its_result_are_two_messages(api: Api) -> None:
    session = await api.session()

    response = await append(
        session,
        calls("c1", message_id="a"),
        results("c1", message_id="r"),
        expected_message_count=0,
    )

    assert response.status_code == HTTPStatus.CREATED
    assert response.json() == {
        "messages": [{"id": "a", "sequence": 1}, {"id": "r", "sequence": 2}],
        "message_count": 2,
        "repairs": [],
    }
    assert await contents(session) == [
        [{**tool_call("c1"), "state": "finished"}],
        [{**tool_result("c1"), "name": "read", "state": "success"}],
    ]


async def test_a_message_is_read_back_with_all_that_is_known_of_it(api: Api) -> None:
    session = await api.session()
    given = user(
        "hi", "m/1", turn_id="t1", agent_visible=False, created_at="2026-01-01T02:00:00+02:00"
    )

    await session.append(given, user("there", "m2", kind="skill_instruction", user_visible=False))

    assert await session.read("messages/m/1") == {
        "id": "m/1",
        "sequence": 1,
        "session_id": "s",
        "turn_id": "t1",
        "role": "user",
        "kind": "normal",
        "content": [text_block("hi")],
        "agent_visible": False,
        "user_visible": True,
        "covered_by": None,
        "created_at": "2026-01-01T00:00:00+00:00",
    }
    second = await session.read("messages/m2")
    assert (second["kind"], second["user_visible"]) == ("skill_instruction", False)
    assert (await session.read())["current_turn_id"] == "t1"


async def test_a_message_without_a_time_has_that_of_its_arrival(api: Api) -> None:
    session = await api.session()

    await session.append(user("hi"))
    (stored,) = await session.messages()
    age = datetime.fromisoformat(stored["created_at"]) - datetime.fromisoformat(
        session.created["created_at"]
    )

    assert timedelta() <= age < timedelta(minutes=1)


async def test_a_repeat_may_be_written_otherwise(api: Api) -> None:
    session = await api.session()
    spelled = (
        '{"messages": [{"id": "m1", "role": "user", "content": "é/"}]}',
        '{"messages":[{"content":[{"text":"\\u00e9\\/","type":"text"}],"role":"user","id":"m1"}]}',
    )

    answers = [
        await api.client.post("/v1/sessions/s/messages", content=text.encode()) for text in spelled
    ]

    assert [answer.status_code for answer in answers] == [HTTPStatus.CREATED, HTTPStatus.OK]
    assert len(await session.messages()) == 1


@requirement("OW-4.1-open-call-id-is-unique", "OW-4.1-result-needs-an-open-call")
async def test_C7_C9_calls_pair_over_several_appends(api: Api) -> None:
    session = await api.session()
    await session.append(calls("c1", "c2"))

    assert await refused(session, calls("c1")) == (409, "duplicate_tool_call")

    await session.append(results("c2"))

    assert await refused(session, results("c2")) == (409, "unmatched_tool_result")

    await session.append(results("c1"), calls("c1"), results("c1"))

    assert (await session.read())["message_count"] == 5


@ON_SQLITE
async def test_C6_C10_messages_that_no_conversation_holds_are_refused(api: Api) -> None:
    session = await api.session()

    assert await refused(session, message("system", "x")) == (422, "system_message_in_conversation")
    assert await refused(session, message("tool", "x")) == (422, "invalid_tool_message")
    assert await session.messages() == []


@ON_SQLITE
async def test_C13_C14_a_skill_comes_before_the_message_that_selected_it(api: Api) -> None:
    session = await api.session()

    await session.append(
        user("<skill>\n<name>commit</name>\n</skill>", kind="skill_instruction"),
        user("Commit this."),
        user("<agent_message>\n</agent_message>", kind="agent_message"),
    )

    kinds = [stored["kind"] for stored in await session.messages()]
    assert kinds == ["skill_instruction", "normal", "agent_message"]
    assert [element["role"] for element in (await session.prepare())["request"]["messages"]] == [
        "system",
        *["user"] * 3,
    ]


async def test_a_waiting_call_takes_its_final_result_whenever_it_comes(api: Api) -> None:
    session = await api.session()
    running = message("tool", [tool_result("c1", state="running")])
    await session.append(message("assistant", [tool_call("c1", state="pending")]), user("and?"))

    await session.append(running, running, results("c1", message_id="final"))

    assert await refused(session, running) == (409, "unmatched_tool_result")
    prepared = await session.prepare(include=["provenance"])
    assert [source.get("sequence") for source in prepared["provenance"]] == [1, 5, 2]
    assert {repair["code"] for repair in prepared["repairs"]} == {"duplicate_tool_result_dropped"}


async def test_a_list_shows_what_is_asked_for(api: Api) -> None:
    session = await api.session()
    await session.append(
        user("a", "m1", turn_id="t1"),
        calls("c1", message_id="m2", turn_id="t1"),
        results("c1", message_id="m3", turn_id="t1"),
        user("b", "m4", turn_id="t2", kind="agent_message", user_visible=False),
        user("c", "m5", agent_visible=False),
    )
    await session.sample({"instructions": {"content": "x"}})

    assert {
        query: await sequences(session, **dict([query.split("=")]))
        for query in (
            "role=user",
            "role=tool",
            "kind=normal",
            "kind=world_state",
            "turn_id=t1",
            "user_visible=false",
            "agent_visible=false",
            "after_sequence=4",
            "after_sequence=6",
        )
    } == {
        "role=user": [1, 4, 5, 6],
        "role=tool": [3],
        "kind=normal": [1, 2, 3, 5],
        "kind=world_state": [6],
        "turn_id=t1": [1, 2, 3],
        "user_visible=false": [4, 6],
        "agent_visible=false": [5],
        "after_sequence=4": [5, 6],
        "after_sequence=6": [],
    }
    assert await sequences(session, role="user", turn_id="t2", kind="agent_message") == [4]
    assert await sequences(session, order="desc", after_sequence=2, role="user") == [6, 5, 4]


async def sequences(session: SessionApi, **query: Any) -> list[int]:
    return [stored["sequence"] for stored in (await session.read("messages", **query))["items"]]


async def test_pages_go_through_a_list_in_either_order(api: Api) -> None:
    session = await api.session()
    await session.append(*[user(str(number)) for number in range(1, 53)])

    first = await session.read("messages")
    last = await session.read("messages", cursor=first["next_cursor"])
    newest = await session.read("messages", order="desc", limit=2, after_sequence=49)
    older = await session.read(
        "messages", order="desc", limit=2, after_sequence=49, cursor=newest["next_cursor"]
    )

    assert [stored["sequence"] for stored in first["items"]] == list(range(1, 51))
    assert [stored["sequence"] for stored in last["items"]] == [51, 52]
    assert last["next_cursor"] is None
    assert [stored["sequence"] for stored in newest["items"]] == [52, 51]
    assert [stored["sequence"] for stored in older["items"]] == [50]
    assert older["next_cursor"] is None


@requirement("OW-7.3-tool-results-have-no-limit", "AW-committed-messages-stay")
async def test_a_large_result_is_stored_whole_however_a_request_shows_it(api: Api) -> None:
    session = await api.session()
    text = "中" * 20_000
    await session.append(calls("c1"), message("tool", [tool_result("c1", text)], "r"))
    before = await session.messages()

    prepared = await session.prepare()
    shown = prepared["request"]["messages"][-1]["content"][0]["output"][0]["text"]

    assert prepared["projection"]["truncated_tool_results"] == 1
    assert len(shown.encode()) == 32_000
    assert (await session.read("messages/r"))["content"][0]["output"] == [text_block(text)]
    assert await session.messages() == before


@ON_SQLITE
async def test_a_batch_stands_together_or_not_at_all(api: Api) -> None:
    session = await api.session()
    await session.append(user("hi", "m1"))

    code = await refused(session, assistant("a", "m2"), calls("c1"), results("c1"), results("c1"))

    assert code == (409, "unmatched_tool_result")
    assert [stored["id"] for stored in await session.messages()] == ["m1"]
    await session.append(calls("c1"))


async def test_messages_without_an_id_get_one_each(api: Api) -> None:
    session = await api.session()

    first = await session.append(user("same"), user("same"))
    second = await session.append(user("same"))

    ids = [placed["id"] for placed in (*first["messages"], *second["messages"])]
    assert len(set(ids)) == 3
    assert all(id_.startswith("msg-") for id_ in ids)


@ON_SQLITE
@pytest.mark.parametrize("message_id", ["a/b", "/", "a//b", "~x:1.2-3_", "messages", "m" * 128])
async def test_a_message_is_found_by_any_id_that_it_may_have(api: Api, message_id: str) -> None:
    session = await api.session()
    await session.append(user("hi", message_id))

    response = await api.client.get(f"/v1/sessions/s/messages/{message_id}")

    assert response.json()["id"] == message_id


@ON_SQLITE
@pytest.mark.parametrize("message_id", ["world-state:x", "compaction-1", "prep-1"])
async def test_ids_of_what_is_made_here_are_reserved(api: Api, message_id: str) -> None:
    session = await api.session()

    assert await refused(session, user("hi", message_id)) == (422, "reserved_id")


@requirement("OW-7.3-skill-8000", "OW-7.3-agent-message-4000", "OW-7.3-refused-not-cut")
@ON_SQLITE
@pytest.mark.parametrize(
    ("kind", "envelope", "limit", "subject"),
    [
        pytest.param(
            "skill_instruction", "<skill>\n<name>release</name>\n{}", 8_000, "release", id="I4"
        ),
        pytest.param(
            "agent_message", "<agent_message>\n<task>find</task>\n{}", 4_000, "find", id="task"
        ),
        pytest.param("skill_instruction", "{}", 8_000, "m1", id="I2"),
    ],
)
async def test_an_item_at_its_limit_is_refused_by_its_name(
    api: Api, kind: str, envelope: str, limit: int, subject: str
) -> None:
    session = await api.session()
    body = "x" * (4 * limit - 27 - len(escaped(envelope.format(""))) - 3)

    refusal = (await append(session, user(envelope.format(body), "m1", kind=kind))).json()

    assert (refusal["code"], refusal["subject"]) == ("item_over_limit", subject)
    assert (refusal["tokens"], refusal["limit_tokens"]) == (limit, limit)
    assert subject in refusal["detail"]

    await session.append(user(envelope.format(body[1:]), "m1", kind=kind))


def escaped(text: str) -> str:
    """A text as it stands in JSON, without its quotes."""
    return json.dumps(text)[1:-1]


@ON_SQLITE
async def test_state_of_a_provider_is_kept_and_counts(api: Api) -> None:
    session = await api.session()
    state = {"driver": "d", "model": "m", "data": {"signature": "x" * 400, "n": [1.5, None]}}
    blocks: list[Json] = [
        {"type": "thinking", "thinking": "hm", "provider_state": state},
        {
            "type": "provider_opaque",
            "driver": "d",
            "kind": "k",
            "payload": [None, {"b": 1, "a": 2}],
        },
        tool_call("c1", provider_state=state),
    ]

    await session.append(message("assistant", blocks))
    prepared = await session.prepare()

    stored = [*blocks[:2], {**tool_call("c1"), "state": "finished", "provider_state": state}]
    assert prepared["request"]["messages"][1]["content"] == stored
    assert list(prepared["request"]["messages"][1]["content"][1]["payload"][1]) == ["b", "a"]
    assert prepared["budget"]["conversation_tokens"] > 200
