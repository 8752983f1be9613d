"""Visibility beneath the service: boundaries are added, and no message is rewritten."""

import httpx
import pytest

from app.core.items import message_id
from app.main import create_app
from app.services.situations import caught_up, read_situation
from app.settings import Settings
from app.store.sessions import SessionWriter
from tests.api.client import Api, Json, SessionApi, assistant, succeeded, user
from tests.store.rows import recorded_statements, stored_rows


async def show(session: SessionApi, message_id: str, **flags: bool) -> Json:
    return succeeded(await session.post(f"messages/{message_id}/visibility", flags))


async def talk(api: Api) -> SessionApi:
    """A session of m1, the user's, and m2, the model's."""
    session = await api.session()
    await session.append(user("Fix the build.", "m1"), assistant("Done.", "m2"))
    return session


async def test_a_change_adds_one_row_and_leaves_every_message(api: Api, database_url: str) -> None:
    session = await talk(api)
    before = await stored_rows(database_url)
    await show(session, "m1", agent_visible=False)
    after = await stored_rows(database_url)
    differs = {table for table, rows in after.items() if rows != before[table]}
    (change,) = after["visibility_changes"]

    assert differs == {"sessions", "visibility_changes"}
    assert change[1:5] == (1, 1, False, True)


async def test_a_repeated_change_leaves_every_row_as_it_was(api: Api, database_url: str) -> None:
    session = await talk(api)
    await show(session, "m1", agent_visible=False)
    before = await stored_rows(database_url)
    await show(session, "m1", agent_visible=False)
    await show(session, "m2", agent_visible=True, user_visible=True)

    assert await stored_rows(database_url) == before


async def test_a_prepare_after_changes_asks_no_more_than_before(api: Api) -> None:
    session = await talk(api)
    for visible in (False, True, False):
        await show(session, "m1", agent_visible=visible)
    await session.prepare()
    with recorded_statements() as statements:
        await session.prepare()

    assert [(statement.what, statement.rows) for statement in statements] == [
        ("SELECT sessions", 1),
        ("SELECT messages", 1),
        ("SELECT prepared_calls", 1),
    ]


@pytest.mark.parametrize("hidden", ["m1", "m3"])
async def test_what_is_hidden_between_a_read_and_the_lock_is_not_shown(
    database_url: str, hidden: str
) -> None:
    app = create_app(Settings(database_url=database_url))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://foreword.test") as client,
    ):
        session = await talk(Api(client=client))
        resources = app.state.resources
        async with resources.database.reading() as reader:
            seen = await read_situation(resources, reader, session.id)
        await session.append(user("More.", "m3"))
        await show(session, hidden, agent_visible=False)
        async with resources.database.writing() as connection:
            locked = await SessionWriter(connection).lock(session.id)
            situation = await caught_up(resources, connection, seen, locked)

        assert [message_id(item) for item in situation.items] == [
            kept for kept in ("m1", "m2", "m3") if kept != hidden
        ]
