"""Appends: gapless whoever writes, once however often they are sent, all or nothing."""

import asyncio
import random
from collections import Counter
from http import HTTPStatus
from itertools import islice

import pytest

from app.store.tables import open_calls
from tests.api.client import Api, Json, SessionApi, assistant, calls, message, results, user
from tests.requirements import requirement
from tests.store.rows import stored_rows

WRITERS = 32
BATCH_SIZES = (*[1] * 20, *[3] * 10)
"""Of the new batches of one writer."""

REPEATS = 20
"""How many of its batches a writer sends a second time."""


def batches_of(writer: int) -> list[list[Json]]:
    """What one writer sends: 50 messages in 30 batches, 20 of them a second time."""
    numbers = iter(range(50))
    batches = [
        [user(f"{writer}: {number}", f"w-{writer}-{number}") for number in islice(numbers, size)]
        for size in random.Random(writer).sample(BATCH_SIZES, len(BATCH_SIZES))
    ]
    repeated = random.Random(-writer).sample(range(len(batches)), REPEATS)
    return [batch for at, batch in enumerate(batches) for _ in range(1 + (at in repeated))]


@pytest.mark.long
@requirement("OW-4.1-append-is-the-only-writer")
async def test_32_writers_with_50_appends_each_leave_1600_messages_without_a_gap(api: Api) -> None:
    session = await api.session()

    async def write(writer: int) -> Counter[int]:
        statuses: Counter[int] = Counter()
        for batch in batches_of(writer):
            response = await session.post("messages", {"messages": batch})
            statuses[response.status_code] += 1
        return statuses

    statuses = await asyncio.gather(*map(write, range(WRITERS)))
    stored = await session.messages()
    places = {message["id"]: message["sequence"] for message in stored}

    assert statuses == [Counter({HTTPStatus.CREATED: 30, HTTPStatus.OK: 20})] * WRITERS
    assert [message["sequence"] for message in stored] == list(range(1, 1601))
    for batch in (batch for writer in range(WRITERS) for batch in batches_of(writer)):
        first, *rest = (places[message["id"]] for message in batch)
        assert rest == list(range(first + 1, first + len(batch)))
    assert (await session.read())["version"] == 30 * WRITERS


async def test_B137_the_same_message_sent_five_times_at_once_is_one_message(api: Api) -> None:
    session = await api.session()
    body = {"messages": [user("hello", "m")]}
    responses = await asyncio.gather(*(session.post("messages", body) for _ in range(5)))

    assert sorted(response.status_code for response in responses) == [200, 200, 200, 200, 201]
    assert {response.text for response in responses} == {responses[0].text}
    assert [message["id"] for message in await session.messages()] == ["m"]


async def test_B139_a_writer_without_a_base_does_not_disturb_another(api: Api) -> None:
    session = await api.session()
    await session.append(user("A"), expected_message_count=0)
    await session.append(user("a note of B"))
    await session.append(assistant("A goes on"))

    refused = await session.post(
        "messages", {"messages": [user("A insists")], "expected_message_count": 1}
    )
    assert refused.status_code == HTTPStatus.CONFLICT
    assert (refused.json()["code"], refused.json()["message_count"]) == ("conversation_moved", 3)
    assert (await session.append(user("A"), expected_message_count=3))["message_count"] == 4


async def test_B142_a_repeat_is_no_second_message_and_another_body_is_refused(api: Api) -> None:
    session = await api.session()
    first = await session.post("messages", {"messages": [user("hello", "m")]})
    again = await session.post("messages", {"messages": [user("hello", "m")]})
    other = await session.post("messages", {"messages": [user("goodbye", "m")]})

    assert (first.status_code, again.status_code) == (HTTPStatus.CREATED, HTTPStatus.OK)
    assert first.json() == again.json()
    assert other.status_code == HTTPStatus.CONFLICT
    assert other.json()["code"] == "message_conflict"
    assert (await session.read())["version"] == 1


async def test_B143_equal_texts_under_two_ids_are_two_messages(api: Api) -> None:
    session = await api.session()
    await session.append(user("yes", "m-1"), user("yes", "m-2"))
    await session.append(user("yes"))
    await session.append(user("yes"))

    assert [message["sequence"] for message in await session.messages()] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "other",
    [
        user("hello", "m", turn_id="t-2"),
        user("hello", "m", user_visible=False),
        user("hello", "m", agent_visible=False),
        user("hello", "m", kind="skill_instruction"),
        assistant("hello", "m"),
        message("user", [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}], "m"),
    ],
    ids=["turn", "user_visible", "agent_visible", "kind", "role", "blocks"],
)
async def test_a_repeat_that_differs_in_anything_is_a_conflict(
    sqlite_api: Api, other: Json
) -> None:
    session = await sqlite_api.session()
    await session.append(user("hello", "m", turn_id="t"))
    refused = await session.post("messages", {"messages": [user("new", "n"), other]})

    assert refused.status_code == HTTPStatus.CONFLICT
    assert refused.json()["code"] == "message_conflict"
    assert (refused.json()["message_id"], refused.json()["message_index"]) == ("m", 1)
    assert len(await session.messages()) == 1


async def test_a_batch_may_mix_repeats_and_new_messages(api: Api) -> None:
    session = await api.session()
    await session.append(user("one", "m-1"), user("two", "m-2"))
    mixed = await session.append(
        user("two", "m-2"), user("three", "m-3"), user("three", "m-3"), user("one", "m-1")
    )

    assert mixed["messages"] == [
        {"id": "m-2", "sequence": 2},
        {"id": "m-3", "sequence": 3},
        {"id": "m-3", "sequence": 3},
        {"id": "m-1", "sequence": 1},
    ]
    assert mixed["message_count"] == 3


async def test_a_repeat_succeeds_whatever_happened_in_between(api: Api) -> None:
    session = await api.session()
    round_ = [calls("c", message_id="m-1"), results("c", message_id="m-2")]
    await session.append(*round_, expected_message_count=0)
    await session.append(calls("c", message_id="m-3"))
    again = await session.append(*round_, expected_message_count=0)

    assert again["messages"] == [{"id": "m-1", "sequence": 1}, {"id": "m-2", "sequence": 2}]
    assert again["message_count"] == 3


@requirement("OW-4.1-result-needs-an-open-call", "OW-4.1-open-call-id-is-unique")
async def test_open_calls_are_remembered_between_appends(api: Api, database_url: str) -> None:
    session = await api.session()
    await session.append(calls("a", "b"))
    await session.append(results("b"))

    assert await refusal(session, calls("a")) == "duplicate_tool_call"
    assert await refusal(session, results("b")) == "unmatched_tool_result"
    await session.append(results("a"))
    assert await refusal(session, results("a")) == "unmatched_tool_result"
    await session.append(calls("a"), results("a"), calls("b"))
    assert await open_call_ids(database_url) == [b"b"]


async def test_a_running_result_leaves_its_call_open(api: Api, database_url: str) -> None:
    session = await api.session()
    running = results("c")
    running["content"][0]["state"] = "running"
    await session.append(calls("c"), running)
    await session.append(running)

    assert await open_call_ids(database_url) == [b"c"]
    await session.append(results("c"))
    assert await open_call_ids(database_url) == []
    assert await refusal(session, results("c")) == "unmatched_tool_result"


async def test_call_ids_may_be_as_long_and_odd_as_a_provider_likes(
    api: Api, database_url: str
) -> None:
    session = await api.session()
    odd = "\x00\U0001f378" * 5_000
    await session.append(calls(odd))

    assert await refusal(session, calls(odd)) == "duplicate_tool_call"
    await session.append(results(odd))
    assert await open_call_ids(database_url) == []


async def test_a_refused_batch_leaves_every_row_as_it_was(api: Api, database_url: str) -> None:
    session = await api.session()
    await session.append(calls("c", message_id="m"))
    before = await stored_rows(database_url)

    assert await refusal(session, user("new"), results("c"), results("c")) == (
        "unmatched_tool_result"
    )
    assert await refusal(session, user("new"), calls("d"), calls("d")) == "duplicate_tool_call"
    assert await refusal(session, user("new"), user("m", "m")) == "message_conflict"
    assert await stored_rows(database_url) == before


async def refusal(session: SessionApi, *messages: Json) -> str:
    """The code that a batch is refused with."""
    response = await session.post("messages", {"messages": messages})
    assert response.is_client_error, response.text
    code: str = response.json()["code"]
    return code


async def open_call_ids(database_url: str) -> list[bytes]:
    """The ids of the calls that are stored as open."""
    rows = await stored_rows(database_url)
    return [row[list(open_calls.c).index(open_calls.c.call_id)] for row in rows["open_calls"]]
