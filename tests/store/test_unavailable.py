"""A database that is away is a problem that says when to come back, and no failure of ours."""

import asyncio
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx

from tests.api.client import Api, SessionApi, service, user
from tests.databases import execute


def outcome(response: httpx.Response) -> tuple[int, str, str | None]:
    return response.status_code, response.json()["code"], response.headers.get("retry-after")


AWAY = (HTTPStatus.SERVICE_UNAVAILABLE, "database_unavailable", "1")


async def test_a_server_that_lets_nobody_in_is_unavailable_until_it_does(
    postgresql_url: str, postgresql_server_url: str
) -> None:
    name = urlsplit(postgresql_url).path.removeprefix("/")
    leave = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"

    async def administrate(*statements: str) -> None:
        await asyncio.to_thread(execute, postgresql_server_url, *statements)

    async with service(postgresql_url) as client:
        session = await Api(client=client).session()
        await administrate(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false", leave)

        assert outcome(await session.get()) == AWAY
        assert outcome(await session.post("messages", {"messages": [user("hello")]})) == AWAY
        assert outcome(await client.get("/readyz")) == AWAY
        assert outcome(await client.get("/v1/events", headers={"Last-Event-ID": "1"})) == AWAY
        assert (await client.get("/healthz")).status_code == HTTPStatus.OK

        await administrate(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        assert (await session.append(user("hello")))["message_count"] == 1
        await administrate(leave)
        assert (await session.append(user("hello")))["message_count"] == 2


async def test_a_database_that_is_not_there_is_unavailable(postgresql_url: str) -> None:
    async with service(f"{postgresql_url}_gone") as client:
        assert outcome(await SessionApi(client=client, id="s", created={}).get()) == AWAY


async def test_a_database_that_is_not_migrated_is_unavailable(tmp_path: object) -> None:
    async with service(f"sqlite:///{tmp_path}/empty.db") as client:
        assert outcome(await client.get("/readyz")) == AWAY
