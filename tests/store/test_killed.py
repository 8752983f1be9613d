"""A service that is killed at any moment has kept every message that it acknowledged."""

import asyncio
import random
from collections.abc import Callable, Iterator
from http import HTTPStatus

import httpx
import pytest

from tests.api.client import Api, Json, SessionApi, service, user
from tests.api.contract import hold_to_contract
from tests.store.processes import serving

SEED = 914
ROUNDS = 3
WRITERS = 4
FEWEST, MOST = 5, 60
"""How many appends a service may acknowledge before it is killed."""


@pytest.mark.long
async def test_what_was_acknowledged_survives_a_kill_at_any_moment(database_url: str) -> None:
    chance = random.Random(SEED)
    print(f"seed {SEED}")  # noqa: T201 - shown where the test fails
    acknowledged: list[list[Json]] = []
    unanswered: list[list[Json]] = []
    for round_ in range(ROUNDS):
        with serving(database_url) as server:
            kill_at = len(acknowledged) + chance.randint(FEWEST, MOST)

            def acknowledge(batch: list[Json]) -> None:
                acknowledged.append(batch)
                if len(acknowledged) == kill_at:  # noqa: B023 - called within this round
                    server.kill()

            unanswered += await write_until_it_dies(server.url, round_, acknowledge)
    async with service(database_url) as client:
        session = await Api(client=client).session()
        places = await places_of(session)

        assert all(is_unbroken(batch, places) for batch in acknowledged)
        assert all(is_unbroken(batch, places) for batch in unanswered if batch[0]["id"] in places)
        for batch in unanswered:
            await session.append(*batch)
        places = await places_of(session)

        assert all(is_unbroken(batch, places) for batch in acknowledged + unanswered)
        assert sorted(places.values()) == list(range(1, len(places) + 1))
        assert len(places) == sum(map(len, acknowledged + unanswered))


async def write_until_it_dies(
    url: str, round_: int, acknowledge: Callable[[list[Json]], None]
) -> list[list[Json]]:
    """The batches that got no answer, one of each writer."""
    async with httpx.AsyncClient(
        base_url=url, event_hooks={"response": [hold_to_contract]}
    ) as client:
        session = await Api(client=client).session()
        return await asyncio.gather(
            *(write(session, batches_of(round_, writer), acknowledge) for writer in range(WRITERS))
        )


async def write(
    session: SessionApi,
    batches: Iterator[list[Json]],
    acknowledge: Callable[[list[Json]], None],
) -> list[Json]:
    """Append batch after batch; the one that got no answer."""
    while True:
        batch = next(batches)
        try:
            response = await session.post("messages", {"messages": batch})
        except httpx.TransportError:
            return batch
        assert response.status_code == HTTPStatus.CREATED
        acknowledge(batch)


def batches_of(round_: int, writer: int) -> Iterator[list[Json]]:
    """Batches of one to three messages without an end."""
    number = 0
    while True:
        ids = [f"{round_}-{writer}-{number}-{place}" for place in range(1 + number % 3)]
        yield [user(f"message {id_}", id_) for id_ in ids]
        number += 1


async def places_of(session: SessionApi) -> dict[str, int]:
    """The sequence of every stored message by its id."""
    return {message["id"]: message["sequence"] for message in await session.messages()}


def is_unbroken(batch: list[Json], places: dict[str, int]) -> bool:
    """Whether all of a batch is stored, one message behind the other."""
    first, *rest = (places.get(message["id"], 0) for message in batch)
    return first > 0 and rest == list(range(first + 1, first + len(batch)))
