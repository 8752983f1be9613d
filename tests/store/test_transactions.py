"""A call that is refused has changed nothing, wherever in it the refusal came."""

from http import HTTPStatus

import pytest

from tests.api.client import PROFILE, Api, Json, SessionApi, calls, message, user
from tests.requirements import requirement
from tests.store.rows import stored_rows

POINT: Json = {"turn_id": "t", "model_call": 1, "sample": 1}
IMAGE: Json = {
    "type": "data",
    "source": {"source_type": "url", "url": "https://example.com/a.png", "media_type": "image/png"},
}


async def session_with_history(api: Api) -> SessionApi:
    """A session that has rows in every table."""
    session = await api.session()
    await session.append(user("hello"), message("user", [IMAGE]), calls("c"))
    await session.prepare(world_state={"instructions": {"content": "Be kind.\n"}}, **POINT)
    return session


REFUSED: dict[str, tuple[Json, str]] = {
    "the capture": (
        {
            "append": [user("new", "n"), calls("d")],
            "world_state": {"skills": [], "instructions": {"content": "x" * 70_000}},
            **POINT,
            "sample": 2,
        },
        "project_instruction_error",
    ),
    "the append": (
        {
            "append": [user("new", "n"), calls("c")],
            "world_state": {"instructions": {"content": "Be brief.\n"}},
            **POINT,
            "sample": 2,
        },
        "duplicate_tool_call",
    ),
    "the count": ({"append": [user("new")], "expected_message_count": 1}, "conversation_moved"),
    "the count alone": ({"expected_message_count": 1}, "conversation_moved"),
    "the point": (
        {"append": [user("new")], "world_state": {"skills": []}, "turn_id": "t"},
        "turn_required",
    ),
}


@pytest.mark.parametrize(("body", "code"), REFUSED.values(), ids=REFUSED)
async def test_a_refused_prepare_leaves_every_row_as_it_was(
    api: Api, database_url: str, body: Json, code: str
) -> None:
    session = await session_with_history(api)
    before = await stored_rows(database_url)
    refused = await session.post("prepare", body)

    assert refused.json()["code"] == code
    assert await stored_rows(database_url) == before


async def test_a_request_that_cannot_be_assembled_stores_nothing_of_its_prepare(
    api: Api, database_url: str
) -> None:
    session = await session_with_history(api)
    blind = {**PROFILE, "accepts_data_blocks": False}
    await api.client.patch("/v1/sessions/s", json={"model_profile": blind})
    before = await stored_rows(database_url)
    capture = {"instructions": {"content": "Be brief.\n"}}
    refused = await session.post(
        "prepare", {"append": [user("new")], "world_state": capture, **POINT, "sample": 2}
    )

    assert refused.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert refused.json()["code"] == "unsupported_user_data"
    assert await stored_rows(database_url) == before


async def test_a_prepare_stores_all_three_of_its_steps_or_none(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(
        append=[user("new", "n")], world_state={"instructions": {"content": "Be brief.\n"}}, **POINT
    )
    stored = [message["id"] for message in await session.messages()]

    assert stored == ["n", "world-state:t:1:1:project/AGENTS.md"]
    assert (await session.read())["version"] == prepared["version"] == 1
    assert (await session.get(f"prepared/{prepared['prepared_id']}")).json() == prepared["request"]


@requirement("OW-1-regions-never-change-their-source")
async def test_a_prepare_that_changes_nothing_writes_nothing(api: Api, database_url: str) -> None:
    session = await session_with_history(api)
    first = await session.prepare()
    before = await stored_rows(database_url)
    again = await session.prepare()

    assert again["prepared_id"] == first["prepared_id"]
    assert again["request"] == first["request"]
    assert await stored_rows(database_url) == before


@requirement("OW-8-preview-stores-nothing")
async def test_a_preview_writes_nothing(api: Api, database_url: str) -> None:
    session = await session_with_history(api)
    await session.append(user("and now"))
    before = await stored_rows(database_url)
    await session.read("context")

    assert await stored_rows(database_url) == before
