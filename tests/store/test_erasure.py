"""A deleted session is gone from every table, with what nobody else uses."""

import asyncio
from http import HTTPStatus

import pytest

from app.store.tables import metadata
from tests.api.client import AGENT, Api, Json, SessionApi, calls, user
from tests.api.compacting import compact
from tests.store.rows import stored_rows

OF_NO_SESSION = {"operator_models", "learned_limits", "event_log"}
"""Tables about models, which outlive every session, and the one that counts events."""

OTHER_AGENT = {"system_prompt": "You write poems."}
CAPTURE = {"instructions": {"content": "Be kind.\n"}}


async def full_session(api: Api, session_id: str = "s") -> SessionApi:
    """A session that has rows in every table."""
    session = await api.session(session_id)
    await session.append(user("hello", "m"), calls("c"))
    await session.sample(CAPTURE)
    await session.prepare()
    await session.post("messages/m/visibility", {"user_visible": False})
    return session


async def delete(session: SessionApi) -> None:
    response = await session.client.delete(f"/v1/sessions/{session.id}")
    assert response.status_code == HTTPStatus.NO_CONTENT


async def test_a_deleted_session_leaves_no_row(api: Api, database_url: str) -> None:
    session = await full_session(api)
    await compact(session)
    before = await stored_rows(database_url)
    await delete(session)
    after = await stored_rows(database_url)

    assert {table for table, rows in before.items() if rows} - {"event_log"} == (
        set(metadata.tables) - OF_NO_SESSION
    )
    assert after == {table: [] for table in metadata.tables} | {"event_log": before["event_log"]}


async def test_what_another_session_uses_stays(api: Api, database_url: str) -> None:
    other = await full_session(api, "other")
    before = await stored_rows(database_url)
    await delete(await full_session(api))

    assert await stored_rows(database_url) == before
    assert (await other.prepare())["request"]["messages"][0]["role"] == "system"


async def test_a_session_made_again_under_the_id_knows_nothing_of_the_old_one(api: Api) -> None:
    old = await full_session(api)
    prepared = await old.prepare()
    etag = (await old.get()).headers["etag"]
    await delete(old)
    new = await api.session()

    assert new.created["incarnation"] != old.created["incarnation"]
    assert (new.created["version"], new.created["message_count"]) == (0, 0)
    assert await new.messages() == []
    assert await new.read("world-state") == {"sections": []}
    assert (await new.get(f"prepared/{prepared['prepared_id']}")).json()["code"] == (
        "prepared_not_found"
    )
    cached = await api.client.get("/v1/sessions/s", headers={"If-None-Match": etag})
    assert cached.status_code == HTTPStatus.OK
    again = await full_session_of(new)
    assert again["prepared_id"] != prepared["prepared_id"]
    assert again["request"] == prepared["request"]
    assert again["prefix"]["common_messages"] == 0


async def full_session_of(session: SessionApi) -> Json:
    await session.append(user("hello", "m"), calls("c"))
    await session.sample(CAPTURE)
    return await session.prepare()


async def test_an_agent_is_erased_with_the_last_row_that_names_it(
    api: Api, database_url: str
) -> None:
    session = await api.session()
    first = session.created["agent_ref"]
    await patch_agent(session, OTHER_AGENT)

    assert await agent_refs(database_url) == [(await session.read())["agent_ref"]]
    await session.prepare()
    await patch_agent(session, AGENT)
    assert len(await agent_refs(database_url)) == 2
    assert first in await agent_refs(database_url)
    await delete(session)
    assert await agent_refs(database_url) == []


async def test_a_call_prepared_with_a_former_agent_can_still_be_read(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare()
    await patch_agent(session, OTHER_AGENT)

    assert (await session.read(f"prepared/{prepared['prepared_id']}")) == prepared["request"]
    assert (await session.prepare())["prefix"]["cause"] == "agent_changed"


async def patch_agent(session: SessionApi, agent: dict[str, str]) -> None:
    response = await session.client.patch(f"/v1/sessions/{session.id}", json={"agent": agent})
    assert response.status_code == HTTPStatus.OK


async def agent_refs(database_url: str) -> list[str]:
    return [ref for ref, _ in (await stored_rows(database_url))["agents"]]


@pytest.mark.parametrize("ids", [["s"] * 8, [f"s-{n}" for n in range(8)]], ids=["one", "many"])
async def test_sessions_of_one_agent_come_and_go_at_once(
    api: Api, database_url: str, ids: list[str]
) -> None:
    allowed = {HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND}

    async def churn(session_id: str) -> set[int]:
        statuses = set()
        for _ in range(8):
            body = {"id": session_id, "model": "model-a", "agent": AGENT}
            statuses.add((await api.client.post("/v1/sessions", json=body)).status_code)
            statuses.add((await api.client.delete(f"/v1/sessions/{session_id}")).status_code)
        return statuses

    assert set().union(*await asyncio.gather(*map(churn, ids))) <= allowed
    assert await stored_rows(database_url) == {table: [] for table in metadata.tables}
