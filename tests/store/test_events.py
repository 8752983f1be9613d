"""Events keep one order under any number of writers, and a reader misses none of them."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from app.core.events import Event
from app.store.database import Database
from app.store.events import KEPT, PRUNED_AT_ONCE, EventFilter, EventRepository, EventWriter, Log
from tests.api.client import Api
from tests.store.rows import stored_rows

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ALL = EventFilter(session_id=None, type=None)
WRITERS = 8
EACH = 25
PATIENCE_SECONDS = 60


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture
async def postgresql(postgresql_url: str) -> AsyncIterator[Database]:
    database = Database(postgresql_url)
    yield database
    await database.close()


def event(about: Any = None) -> Event:
    return Event(type="history_replaced", session_id="s", about={"number": about})


async def add(
    database: Database, incarnation: str, about: object = None, at: datetime = NOW
) -> None:
    async with database.writing() as connection:
        await EventWriter(connection).add(event(about), incarnation, None, at)


async def log_of(database: Database) -> Log:
    async with database.reading() as connection:
        return await EventRepository(connection).log()


async def ids_after(database: Database, place: int, limit: int = 1_000) -> list[int]:
    async with database.reading() as connection:
        page = await EventRepository(connection).page(ALL, place, limit)
        return [stored.id for stored in page]


async def is_waiting_for_a_lock(database: Database) -> bool:
    """Whether any transaction of the database waits for another one."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with database.reading() as connection:
        waiting_now: int = (await connection.execute(waiting)).scalar_one()
        return waiting_now > 0


async def test_an_id_is_given_out_only_when_every_smaller_one_can_be_seen(
    api_on_postgresql: Api, postgresql: Database
) -> None:
    incarnation = (await api_on_postgresql.session()).created["incarnation"]
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with postgresql.writing() as slow:
            await EventWriter(slow).add(event("slow"), incarnation, None, NOW)
            quick = asyncio.create_task(add(postgresql, incarnation, "quick"))
            while not await is_waiting_for_a_lock(postgresql):
                assert not quick.done()
            seen_meanwhile = await ids_after(postgresql, 0), await log_of(postgresql)
        await quick
    async with postgresql.reading() as connection:
        page = await EventRepository(connection).page(ALL, 0, 10)

    assert seen_meanwhile == ([], Log(last_id=0, pruned_through=0))
    assert [(stored.id, b"slow" in stored.data) for stored in page] == [(1, True), (2, False)]


async def test_a_reader_among_concurrent_writers_misses_nothing(
    api: Api, database: Database
) -> None:
    sessions = [await api.session(f"s-{number}") for number in range(WRITERS)]
    total = WRITERS * EACH

    async def write(incarnation: str) -> None:
        for number in range(EACH):
            await add(database, incarnation, number)

    async def read() -> list[int]:
        seen: list[int] = []
        while len(seen) < total:
            seen += await ids_after(database, seen[-1] if seen else 0, limit=7)
        return seen

    async with asyncio.timeout(PATIENCE_SECONDS):
        seen, *_ = await asyncio.gather(
            read(), *(write(session.created["incarnation"]) for session in sessions)
        )

    assert seen == list(range(1, total + 1))
    assert await log_of(database) == Log(last_id=total, pruned_through=0)


async def test_a_transaction_that_fails_leaves_no_event_and_wakes_nobody(
    api: Api, database: Database
) -> None:
    incarnation = (await api.session()).created["incarnation"]
    woken: list[str] = []

    async def add_and_fail() -> None:
        async with database.writing() as connection:
            await EventWriter(connection).add(event(), incarnation, None, NOW)
            database.after_commit(connection, lambda: woken.append("failed"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await add_and_fail()
    async with database.writing() as connection:
        database.after_commit(connection, lambda: woken.append("committed"))
        await EventWriter(connection).add(event(), incarnation, None, NOW)
        before_commit = list(woken)

    assert (before_commit, woken) == ([], ["committed"])
    assert await ids_after(database, 0) == [1]


async def test_old_events_go_a_few_at_a_time_and_the_log_says_how_far(
    api: Api, database: Database
) -> None:
    incarnation = (await api.session()).created["incarnation"]
    for _ in range(PRUNED_AT_ONCE + 2):
        await add(database, incarnation, at=NOW - KEPT)
    await add(database, incarnation)
    kept = await ids_after(database, 0)
    await add(database, incarnation, at=NOW + timedelta(seconds=1))
    first = await ids_after(database, 0), await log_of(database)
    await add(database, incarnation, at=NOW + timedelta(seconds=1))
    second = await ids_after(database, 0), await log_of(database)

    assert kept == list(range(1, 14))
    assert first == ([11, 12, 13, 14], Log(last_id=14, pruned_through=10))
    assert second == ([13, 14, 15], Log(last_id=15, pruned_through=12))


async def test_an_erased_session_takes_its_events_along_and_no_others(
    api: Api, database: Database, database_url: str
) -> None:
    erased, left = await api.session("erased"), await api.session("left")
    for session in (erased, left, erased):
        await add(database, session.created["incarnation"])
    await api.client.delete(f"/v1/sessions/{erased.id}")

    assert await ids_after(database, 0) == [2]
    assert (await stored_rows(database_url))["event_log"] == [(1, 3, 0)]


async def test_pruning_does_not_wait_for_a_session_that_is_being_erased(
    api_on_postgresql: Api, postgresql: Database
) -> None:
    going, staying = [await api_on_postgresql.session(name) for name in ("going", "staying")]
    await add(postgresql, going.created["incarnation"], at=NOW - KEPT)
    async with asyncio.timeout(PATIENCE_SECONDS), postgresql.writing() as erasing:
        await erasing.execute(text("DELETE FROM sessions WHERE id = 'going'"))
        await add(postgresql, staying.created["incarnation"], at=NOW + timedelta(seconds=1))

    assert await ids_after(postgresql, 0) == [2]
    assert await log_of(postgresql) == Log(last_id=2, pruned_through=1)
