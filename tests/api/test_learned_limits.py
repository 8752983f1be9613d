"""Limits that providers name: told with their reports, forgotten on request, never applied."""

from http import HTTPStatus
from typing import Any

import pytest

from tests.api.client import Json, SessionApi, succeeded, user
from tests.api.compacting import POINT, Timed, run_turn
from tests.store.rows import stored_rows

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def refused_call(session: SessionApi, text: str = "do the task") -> Json:
    """A prepared call in a turn."""
    await run_turn(session, lease_seconds=86_400)
    await session.append(user(text))
    return await session.prepare(**POINT)


async def report(session: SessionApi, prepared: Json, limit: int | None) -> Json:
    """What prepare answers to the provider's refusal."""
    return await session.prepare(
        **POINT,
        recover_from={
            "prepared_id": prepared["prepared_id"],
            "error": "context_overflow",
            "delivery": "not_sent",
            "observed_limit_tokens": limit,
        },
    )


async def learned(session: SessionApi, model: str) -> list[Json]:
    answer = succeeded(await session.client.get(f"/v1/models/{model}"))
    limits: list[Json] = answer["learned"]
    return limits


async def test_a_reported_limit_is_told_and_changes_no_window(timed: Timed) -> None:
    session = await timed.session(model="learned/a")
    prepared = await refused_call(session)
    recovered = await report(session, prepared, 131_072)

    day = timed.clock.now().isoformat()
    assert await learned(session, "learned/a") == [
        {"limit_tokens": 131_072, "observed_at": day, "reports": 1}
    ]
    assert recovered["limits"]["context_window"] == prepared["limits"]["context_window"] == 200_000
    assert recovered["limits"]["provenance"]["learned_limit"] == {
        "requested": 131_072,
        "effective": None,
        "source": "learned",
        "why": f"providers said so once, last on {day[:10]}; it changes no limit by itself",
    }
    preview = await session.read("context", content="false")
    assert preview["limits"]["provenance"] == recovered["limits"]["provenance"]


async def test_B116_a_second_report_steps_nothing_down_and_all_of_it_can_be_forgotten(
    timed: Timed,
) -> None:
    session = await timed.session(model="learned/b")
    for limit, text in ((131_072, "one"), (65_536, "two"), (131_072, "three")):
        timed.clock.advance(60)
        recovered = await report(session, await refused_call(session, text), limit)

        assert recovered["limits"]["context_window"] == 200_000
    found = [
        (limit["limit_tokens"], limit["reports"]) for limit in await learned(session, "learned/b")
    ]
    warnings = (await session.read())["warnings"]
    forgotten = await session.client.delete("/v1/models/learned/b/learned")

    assert found == [(65_536, 1), (131_072, 2)]
    assert [warning["code"] for warning in warnings] == ["learned_limit"]
    assert "65536" in warnings[0]["detail"]
    assert (forgotten.status_code, forgotten.content) == (HTTPStatus.NO_CONTENT, b"")
    assert await learned(session, "learned/b") == []
    assert (await session.read())["warnings"] == []
    assert "learned_limit" not in (await session.read("context"))["limits"]["provenance"]


async def test_a_repeated_report_counts_once(timed: Timed) -> None:
    session = await timed.session(model="learned/c")
    prepared = await refused_call(session)
    for limit in (1_000, 1_000, 2_000):
        await report(session, prepared, limit)

    assert [limit["reports"] for limit in await learned(session, "learned/c")] == [1]


async def test_a_report_without_a_limit_teaches_nothing(timed: Timed) -> None:
    session = await timed.session(model="learned/d")
    await report(session, await refused_call(session), None)

    assert await learned(session, "learned/d") == []


async def test_a_limit_belongs_to_the_name_by_which_the_model_was_called(timed: Timed) -> None:
    session = await timed.session(model="azure/gpt-4.1-mini")
    prepared = await refused_call(session)
    await session.client.patch(f"/v1/sessions/{session.id}", json={"model": "learned/e"})
    await report(session, prepared, 65_536)

    assert len(await learned(session, "azure/gpt-4.1-mini")) == 1
    assert await learned(session, "gpt-4.1-mini") == []
    assert await learned(session, "learned/e") == []


async def test_every_session_of_the_model_is_warned_wherever_it_is_shown(timed: Timed) -> None:
    session = await timed.session(model="learned/f")
    await report(session, await refused_call(session), 65_536)
    other = await timed.session(model="learned/f")
    path = f"/v1/sessions/{other.id}"
    changed = succeeded(await other.client.patch(path, json={"metadata": {"a": 1}}))
    listed = succeeded(await other.client.get("/v1/sessions", params={"model": "learned/f"}))
    forked = succeeded(await other.post("fork", {}))

    shown = [other.created, changed, forked, *listed["items"]]
    assert all([w["code"] for w in each["warnings"]] == ["learned_limit"] for each in shown)


async def test_a_limit_that_the_window_keeps_warns_nobody(timed: Timed) -> None:
    profile = {"name": "m", "context_window": 65_536}
    session = await timed.session(model="learned/g", model_profile=profile)
    await report(session, await refused_call(session), 65_536)

    assert (await session.read())["warnings"] == []


async def test_an_unknown_window_is_warned_of_a_limit_and_stays_unknown(timed: Timed) -> None:
    session = await timed.session(model="learned/h", model_profile=None)
    recovered = await report(session, await refused_call(session), 65_536)
    seen = await session.read()

    assert recovered["budget"]["state"] == "unknown"
    assert (seen["model_profile"], seen["state"]) == (None, "unknown")
    assert "no window is known" in seen["warnings"][0]["detail"]


async def test_a_learned_limit_outlives_the_session_and_names_it_no_more(
    timed: Timed, module_database_url: str
) -> None:
    session = await timed.session(model="learned/i")
    await report(session, await refused_call(session), 65_536)
    incarnation = session.created["incarnation"]
    before = (await stored_rows(module_database_url))["learned_limits"]
    await session.client.delete(f"/v1/sessions/{session.id}")
    after = (await stored_rows(module_database_url))["learned_limits"]

    assert [row for row in before if incarnation in row]
    assert not [row for row in after if incarnation in row]
    assert len(await learned(session, "learned/i")) == 1


async def test_a_refused_prepare_teaches_nothing(timed: Timed) -> None:
    session = await timed.session(model="learned/j")
    prepared = await refused_call(session)
    body: Json = {
        "append": [user("late")],
        "expected_message_count": 99,
        "recover_from": {
            "prepared_id": prepared["prepared_id"],
            "error": "context_overflow",
            "delivery": "not_sent",
            "observed_limit_tokens": 65_536,
        },
    }
    response = await session.post("prepare", {**POINT, **body})

    assert response.status_code == HTTPStatus.CONFLICT
    assert await learned(session, "learned/j") == []


async def test_a_model_of_which_only_a_limit_was_learned_is_listed(timed: Timed) -> None:
    session = await timed.session(model="learned/k")
    await report(session, await refused_call(session), 65_536)
    page = succeeded(await session.client.get("/v1/models", params={"q": "learned/k"}))

    assert [(item["name"], item["state"]) for item in page["items"]] == [("learned/k", "unknown")]
    assert [limit["limit_tokens"] for limit in page["items"][0]["learned"]] == [65_536]


@pytest.mark.parametrize("limit", [0, -1, 2**63, 1.5, True, "1"])
async def test_a_limit_that_cannot_be_is_refused(timed: Timed, limit: Any) -> None:
    session = await timed.session()
    recovery = {"prepared_id": "prep-x", "error": "context_overflow", "delivery": "not_sent"}
    body = {"recover_from": {**recovery, "observed_limit_tokens": limit}}
    response = await session.post("prepare", body)

    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
