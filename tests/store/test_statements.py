"""How often the database is asked, and for how much: the same for ten messages and ten thousand."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from tests.api.client import Api, Json, SessionApi, assistant, user
from tests.api.reporting import report
from tests.store.rows import Statement, recorded_statements

POINT: Json = {"turn_id": "t", "model_call": 1, "sample": 1}
# A turn that a point opens is read, looked for among live ones, and written.
OPENING: Final = ["SELECT turns", "SELECT turns", "INSERT turns"]
APPENDING: Final = ["SELECT messages", "SELECT open_calls", "INSERT messages"]
SAMPLING: Final = [
    *("SELECT world_state_samples", "SELECT world_state_sections", "SELECT messages"),
    *("SELECT messages", "INSERT messages", "INSERT world_state_emissions"),
    *("DELETE world_state_sections", "INSERT world_state_sections", "INSERT world_state_samples"),
]
RECORDING: Final = ["SELECT prepared_calls", "SELECT prepared_calls", "INSERT prepared_calls"]
REPORTING: Final = [
    *("SELECT usage_reports", "SELECT usage_reports"),
    *("SELECT usage_reports", "INSERT usage_reports"),
]

ACTS: Final[dict[str, tuple[Callable[[SessionApi], Awaitable[Json]], list[str]]]] = {
    "append": (
        lambda session: session.append(user("new")),
        ["SELECT sessions", "SELECT sessions", *APPENDING, "UPDATE sessions"],
    ),
    "repeat": (
        lambda session: session.append(user("message 0", "m-0")),
        ["SELECT sessions", "SELECT sessions", "SELECT messages", "SELECT open_calls"],
    ),
    "prepare": (
        lambda session: session.prepare(),
        ["SELECT sessions", "SELECT messages", "SELECT prepared_calls"],
    ),
    "prepare with an append": (
        lambda session: session.prepare(append=[user("new")]),
        [
            *("SELECT sessions", "SELECT messages", "SELECT sessions"),
            *(*APPENDING, *RECORDING, "UPDATE sessions"),
        ],
    ),
    "sample": (
        lambda session: session.sample({"instructions": {"content": "Be kind.\n"}}),
        ["SELECT sessions", *OPENING, *SAMPLING, "UPDATE sessions"],
    ),
    "report": (
        lambda session: report(session, input_tokens=1, output_tokens=1),
        [
            *("SELECT sessions", "SELECT messages", "SELECT sessions"),
            *(*REPORTING, "UPDATE sessions"),
        ],
    ),
    "append with a report": (
        lambda session: session.append(assistant("new"), usage={"model": "m"}),
        [
            *("SELECT sessions", "SELECT messages", "SELECT sessions"),
            *(*APPENDING, *REPORTING, "UPDATE sessions"),
        ],
    ),
    "preview": (
        lambda session: session.read("context"),
        ["SELECT sessions", "SELECT messages", "SELECT messages", "SELECT learned_limits"],
    ),
}
READ_ONCE: Final = ["prepare", "prepare with an append", "report", "append with a report"]


BATCH: Final = 1_000


async def session_of(api: Api, count: int) -> SessionApi:
    """A session of a number of messages."""
    session = await api.session(f"s-{count}")
    texts = [user(f"message {number}", f"m-{number}") for number in range(count)]
    for start in range(0, count, BATCH):
        await session.append(*texts[start : start + BATCH])
    return session


async def prepared_session_of(api: Api, count: int) -> SessionApi:
    """A session of a number of messages that was prepared once."""
    session = await session_of(api, count)
    await session.prepare()
    return session


@pytest.mark.parametrize("act", ACTS)
async def test_the_number_of_statements_does_not_grow_with_the_session(api: Api, act: str) -> None:
    perform, expected = ACTS[act]
    for count in (2, 300):
        session = await prepared_session_of(api, count)
        with recorded_statements() as statements:
            await perform(session)

        assert [statement.what for statement in statements] == expected


@pytest.mark.parametrize("act", READ_ONCE)
async def test_a_prepare_reads_each_message_once(api: Api, act: str) -> None:
    perform, _ = ACTS[act]
    session = await prepared_session_of(api, 50)
    with recorded_statements() as statements:
        await perform(session)

    assert rows_of(statements, "SELECT messages") == 50


async def test_a_prepare_with_everything_is_one_pass_of_each(api: Api) -> None:
    session = await prepared_session_of(api, 2)
    capture = {"instructions": {"content": "Be kind.\n"}}
    with recorded_statements() as statements:
        await session.prepare(append=[user("new")], world_state=capture, **POINT)

    assert [statement.what for statement in statements] == [
        *("SELECT sessions", "SELECT messages", "SELECT sessions"),
        *OPENING,
        *APPENDING,
        *SAMPLING,
        *RECORDING,
        "UPDATE sessions",
    ]


async def test_B140_parallel_appends_to_a_long_session_read_none_of_its_history(api: Api) -> None:
    session = await session_of(api, 10_000)
    with recorded_statements() as statements:
        answers = await asyncio.gather(
            *(session.append(user("new", f"new-{number}")) for number in range(20))
        )

    sequences = sorted(answer["messages"][0]["sequence"] for answer in answers)
    assert sequences == list(range(10_001, 10_021))
    assert Counter(statement.what for statement in statements) == {
        "SELECT sessions": 40,
        "SELECT messages": 20,
        "SELECT open_calls": 20,
        "INSERT messages": 20,
        "UPDATE sessions": 20,
    }
    assert rows_of(statements, "SELECT messages") == 0
    assert rows_of(statements, "SELECT open_calls") == 0


def rows_of(statements: list[Statement], what: str) -> int:
    return sum(statement.rows for statement in statements if statement.what == what)
