"""Lists of sessions: filters, sorts, and pages that no newcomer shifts."""

from typing import Any

import pytest

from tests.api.client import PROFILE, Api, Json, SessionApi, succeeded, user
from tests.api.on_one_database import ON_SQLITE

NAMES = ["a", "b", "c", "d", "e"]


async def listed(api: Api, **query: Any) -> list[str]:
    """The ids of all pages of a list."""
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page = await page_of(api, **query, **({} if cursor is None else {"cursor": cursor}))
        ids += [session["id"] for session in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return ids


async def page_of(api: Api, **query: Any) -> Json:
    return succeeded(await api.client.get("/v1/sessions", params=query))


async def filled(api: Api, session_id: str, words: int, **fields: Any) -> SessionApi:
    """A session with a prepared call of that many words."""
    session = await api.session(session_id, **fields)
    await session.prepare(append=[user("word " * words)])
    return session


async def test_the_newest_sessions_come_first(api: Api) -> None:
    for name in NAMES:
        await api.session(name)

    assert await listed(api) == NAMES[::-1]
    assert await listed(api, order="asc") == NAMES
    assert await listed(api, limit=2) == NAMES[::-1]
    assert await listed(api, limit=2, order="asc") == NAMES


async def test_the_last_page_has_no_next_one(api: Api) -> None:
    for name in NAMES[:4]:
        await api.session(name)

    first = await page_of(api, limit=2)
    second = await page_of(api, limit=2, cursor=first["next_cursor"])

    assert [session["id"] for session in second["items"]] == ["b", "a"]
    assert second["next_cursor"] is None
    assert (await page_of(api, limit=5))["next_cursor"] is None


async def test_sessions_that_are_equally_full_are_all_listed_once(api: Api) -> None:
    for name in NAMES:
        await api.session(name)
    full = await filled(api, "full", 100)

    ids = await listed(api, sort="used_percent", limit=2)

    assert ids == ["full", *NAMES[::-1]]
    assert await listed(api, sort="used_percent", order="asc", limit=2) == [*NAMES, "full"]
    assert (await full.read())["used_percent"] > 0


async def test_the_last_changed_session_comes_first_where_asked(api: Api) -> None:
    sessions = [await api.session(name) for name in ("a", "b", "c")]

    await sessions[0].append(user("hi"))

    assert await listed(api, sort="updated_at", limit=1) == ["a", "c", "b"]


async def test_a_session_that_comes_meanwhile_shifts_no_page(api: Api) -> None:
    for name in NAMES:
        await api.session(name)
    first = await page_of(api, limit=3)

    await api.session("new")
    await api.client.delete("/v1/sessions/c")
    second = await page_of(api, limit=3, cursor=first["next_cursor"])

    assert [session["id"] for session in second["items"]] == ["b", "a"]


async def test_sessions_are_found_by_what_they_are(api: Api) -> None:
    await api.session("plain")
    await api.session("child-1", parent_session_id="plain")
    await api.session("100_percent", model="model-b", model_profile=None)
    await filled(api, "small", 10, model_profile={**PROFILE, "max_output_tokens": None})
    await filled(api, "large", 120_000, model_profile={**PROFILE, "max_output_tokens": None})
    await filled(api, "over", 10, model_profile={**PROFILE, "max_output_tokens": 100_000})

    found = {
        "model": await listed(api, model="model-b"),
        "parent": await listed(api, parent_session_id="plain"),
        "policy": len(await listed(api, policy="openwork")),
        "no policy": await listed(api, policy="codex"),
        "unknown": await listed(api, state="unknown"),
        "ok": await listed(api, state="ok"),
        "warning": await listed(api, state="warning"),
        "over": await listed(api, state="over"),
        "percent": await listed(api, min_used_percent=75),
        "part": await listed(api, q="l"),
        "no pattern": await listed(api, q="_p"),
        "both": await listed(api, q="a", state="ok"),
        "nobody": await listed(api, q="%"),
    }

    assert found == {
        "model": ["100_percent"],
        "parent": ["child-1"],
        "policy": 6,
        "no policy": [],
        "unknown": ["100_percent", "child-1", "plain"],
        "ok": ["small"],
        "warning": ["large"],
        "over": ["over"],
        "percent": ["large"],
        "part": ["large", "small", "child-1", "plain"],
        "no pattern": ["100_percent"],
        "both": ["small"],
        "nobody": [],
    }


@ON_SQLITE
@pytest.mark.parametrize(
    ("made_for", "used_for"),
    [("created_at", "used_percent"), ("used_percent", "created_at"), ("created_at", "updated_at")],
)
async def test_a_cursor_serves_the_sort_that_it_was_made_for(
    api: Api, made_for: str, used_for: str
) -> None:
    for name in NAMES:
        await api.session(name)
    cursor = (await page_of(api, sort=made_for, limit=1))["next_cursor"]

    response = await api.client.get("/v1/sessions", params={"sort": used_for, "cursor": cursor})

    assert (response.status_code, response.json()["code"]) == (422, "invalid_cursor")
