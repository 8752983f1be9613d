"""Turns over HTTP: a lease that blocks while it lasts, a plan, and an end that is final."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest

from tests.api.client import Json, SessionApi, message, results, tool_call, user
from tests.api.compacting import (
    AFTER_FOLD,
    Timed,
    compact,
    put_turn,
    reasons,
    refusal,
    request_compaction,
    run_turn,
    summary_of,
)
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLAN: Json = {
    "explanation": "scoping the work",
    "steps": [
        {"step": "read", "status": "completed"},
        {"step": "write", "status": "in_progress"},
        {"step": "test", "status": "pending"},
    ],
}


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session without a turn so far."""
    return talk


def lease_end(timed: Timed, seconds: int) -> str:
    return (timed.clock.now() + timedelta(seconds=seconds)).isoformat()


async def turn(session: SessionApi, turn_id: str = "t") -> Json:
    (found,) = [
        listed for listed in (await session.read("turns"))["items"] if listed["id"] == turn_id
    ]
    return dict(found)


async def test_a_turn_runs_under_a_lease(timed: Timed, session: SessionApi) -> None:
    begun = await run_turn(session, owner="worker-1", plan=PLAN)
    now = timed.clock.now().isoformat()

    assert begun == {
        "id": "t",
        "status": "running",
        "owner": "worker-1",
        "lease_seconds": 120,
        "lease_expires_at": lease_end(timed, 120),
        "plan": PLAN,
        "model_call": None,
        "sample": None,
        "created_at": now,
        "updated_at": now,
    }
    assert (await session.read())["current_turn_id"] == "t"


async def test_another_turn_is_refused_while_one_runs(timed: Timed, session: SessionApi) -> None:
    await run_turn(session, lease_seconds=60)
    refused = await put_turn(session, "other")

    assert refusal(refused) == (HTTPStatus.CONFLICT, "turn_active")
    assert refused.json()["turn_id"] == "t"
    assert refused.json()["lease_expires_at"] == lease_end(timed, 60)
    assert (await session.read("turns"))["items"] == [await turn(session)]


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_a_turn_that_has_ended_stays_as_it_ended(session: SessionApi, status: str) -> None:
    await run_turn(session, plan=PLAN)
    ended = (await put_turn(session, status=status)).json()
    repeat = (await put_turn(session, status=status, owner="late", plan={"steps": []})).json()
    refused = await put_turn(session)

    assert (ended["status"], ended["lease_expires_at"], ended["plan"]) == (status, None, PLAN)
    assert repeat == ended
    assert refusal(refused) == (HTTPStatus.CONFLICT, "turn_closed")
    assert refused.json()["turn_id"] == "t"
    assert (await put_turn(session, "next")).status_code == HTTPStatus.OK


async def test_every_call_with_a_running_turns_id_renews_its_lease(
    timed: Timed, session: SessionApi
) -> None:
    await run_turn(session, lease_seconds=100)
    capture: Json = {"project": None}
    renewals: list[Callable[[], Awaitable[object]]] = [
        lambda: session.prepare(turn_id="t"),
        lambda: session.append(user("More.", turn_id="t")),
        lambda: session.sample(capture),
        lambda: run_turn(session),
        lambda: request_compaction(session, kind="threshold", turn_id="t", model_call=1),
    ]
    for renew in renewals:
        timed.clock.advance(99)
        await renew()

        assert (await turn(session))["lease_expires_at"] == lease_end(timed, 100)


async def test_a_lapsed_turn_blocks_nobody(timed: Timed, session: SessionApi) -> None:
    await run_turn(session, lease_seconds=60)
    timed.clock.advance(60)

    assert (await put_turn(session, "next")).status_code == HTTPStatus.OK
    assert (await session.read())["current_turn_id"] == "next"


async def test_a_lapsed_turn_goes_on_where_no_other_has_begun(
    timed: Timed, session: SessionApi
) -> None:
    await run_turn(session, lease_seconds=60)
    timed.clock.advance(600)
    await session.prepare(turn_id="t")

    assert refusal(await put_turn(session, "next")) == (HTTPStatus.CONFLICT, "turn_active")


async def test_a_turn_that_was_given_up_does_not_come_back_over_its_successor(
    timed: Timed, session: SessionApi
) -> None:
    lapsed = await run_turn(session, "t", lease_seconds=60)
    timed.clock.advance(60)
    await run_turn(session, "next")
    await session.prepare(turn_id="t")
    await session.append(user("From the dead.", turn_id="t"))

    assert (await turn(session))["lease_expires_at"] == lapsed["lease_expires_at"]
    assert refusal(await put_turn(session)) == (HTTPStatus.CONFLICT, "turn_active")
    assert (await put_turn(session, "next")).status_code == HTTPStatus.OK


async def test_a_turn_that_was_only_named_is_unknown_and_blocks_nothing(
    session: SessionApi,
) -> None:
    await session.prepare(turn_id="a", model_call=2, sample=1)
    await session.append(user("More.", turn_id="b"))
    listed = (await session.read("turns"))["items"]

    assert [(entry["id"], entry["status"], entry["model_call"]) for entry in listed] == [
        ("a", "unknown", 2),
        ("b", "unknown", None),
    ]
    assert (await put_turn(session, "c")).status_code == HTTPStatus.OK


async def test_a_session_tells_where_its_worker_goes_on(timed: Timed, session: SessionApi) -> None:
    await run_turn(session)
    await session.append(message("assistant", [tool_call("c1")], "m3", turn_id="t"))
    prepared = await session.prepare(turn_id="t", model_call=3, sample=2)
    resume = (await session.read())["resume"]

    assert resume == {
        "turn_id": "t",
        "turn_status": "running",
        "model_call": 3,
        "sample": 2,
        "last_prepared_id": prepared["prepared_id"],
        "unresolved_tool_calls": [{"id": "c1", "name": "read", "message_id": "m3"}],
        "open_compaction_id": None,
        "lease_expires_at": lease_end(timed, 120),
    }


async def test_the_turn_to_resume_is_the_one_that_began_last(
    timed: Timed, session: SessionApi
) -> None:
    for turn_id in ("t2", "t1", "t3"):
        await run_turn(session, turn_id, lease_seconds=60)
        timed.clock.advance(60)

    assert (await session.read())["resume"]["turn_id"] == "t3"


async def test_turns_are_listed_in_pages(session: SessionApi) -> None:
    for turn_id in ("c", "a", "b"):
        await run_turn(session, turn_id)
        await put_turn(session, turn_id, status="completed")
    first = await session.read("turns", limit=2)
    rest = await session.read("turns", limit=2, cursor=first["next_cursor"])
    newest = await session.read("turns", limit=1, order="desc")

    assert [entry["id"] for entry in (*first["items"], *rest["items"])] == ["c", "a", "b"]
    assert rest["next_cursor"] is None
    assert [entry["id"] for entry in newest["items"]] == ["b"]


@pytest.mark.parametrize("turn_id", ["a%20b", "%00", "x" * 129, "%C3%A9"])
async def test_an_id_that_no_turn_can_have_is_refused(session: SessionApi, turn_id: str) -> None:
    response = await put_turn(session, turn_id)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_id")


@pytest.mark.parametrize(
    "body",
    [
        {"status": "unknown"},
        {"status": "running", "lease_seconds": 0},
        {"status": "running", "lease_seconds": 86_401},
        {"status": "running", "plan": {"steps": [{"step": "read", "status": "done"}]}},
        {"status": "running", "plan": {"steps": "read"}},
        {"status": "running", "plan": {}},
    ],
)
async def test_what_is_no_turn_is_refused(session: SessionApi, body: Json) -> None:
    response = await put_turn(session, **body)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request")
    assert (await session.read("turns"))["items"] == []


async def test_a_turn_of_no_session_is_not_found(timed: Timed) -> None:
    path = "/v1/sessions/nobody/turns"
    put = await timed.api.client.put(f"{path}/t", json={"status": "running"})
    listed = await timed.api.client.get(path)

    assert refusal(put) == refusal(listed) == (HTTPStatus.NOT_FOUND, "session_not_found")


async def test_a_plan_stays_until_another_one_comes(session: SessionApi) -> None:
    await run_turn(session, plan=PLAN)
    kept = await run_turn(session)
    emptied = await run_turn(session, plan={"steps": []})

    assert kept["plan"] == PLAN
    assert emptied["plan"] == {"explanation": None, "steps": []}


async def compacted_reminder(session: SessionApi, model_call: int, **fields: Any) -> str:
    answer = await compact(
        session,
        summary_of(f"call {model_call}"),
        kind="threshold",
        turn_id="t",
        model_call=model_call,
        **fields,
    )
    reminder: str = answer["checkpoint"]["runtime_reminder"]
    return reminder


async def test_K33_the_plan_of_the_turn_is_part_of_the_reminder(session: SessionApi) -> None:
    await run_turn(session, plan=PLAN)

    assert await compacted_reminder(session, 1) == (
        '<system_reminder format_version="1">\n'
        "## Current plan\n"
        "scoping the work\n"
        "- [completed] read\n"
        "- [in_progress] write\n"
        "- [pending] test\n"
        "</system_reminder>"
    )


async def test_K35_a_plan_that_was_cleared_is_in_no_later_reminder(session: SessionApi) -> None:
    await run_turn(session)
    first = await compacted_reminder(session, 1)
    await run_turn(session, plan=PLAN)
    await session.append(user("More."))
    second = await compacted_reminder(session, 2)
    await run_turn(session, plan={"steps": []})
    await session.append(user("More."))
    third = await compacted_reminder(session, 3)
    has_plan = ["## Current plan" in reminder for reminder in (first, second, third)]

    assert has_plan == [False, True, False]


async def test_a_plan_outlives_its_turn_in_a_manual_compaction(session: SessionApi) -> None:
    await run_turn(session, plan=PLAN)
    first = await compacted_reminder(session, 1)
    await put_turn(session, status="completed")
    await session.append(user("More."))
    second = (await compact(session, summary_of("more")))["checkpoint"]["runtime_reminder"]

    assert second == first


@requirement("OW-4.1-view-is-read-for-every-call")
async def test_a_call_that_waits_stays_behind_the_summary_while_its_turn_lives(
    session: SessionApi,
) -> None:
    await run_turn(session)
    waiting = message("assistant", [tool_call("c1", state="pending")], "m3", turn_id="t")
    await session.append(waiting)
    await compact(session, kind="threshold", turn_id="t", model_call=1)
    during = await session.prepare(include=["provenance"])
    await session.append(results("c1", message_id="m4"))
    after = await session.prepare(include=["provenance"])

    assert reasons(during) == [*AFTER_FOLD, "m3", "interrupted_tool_result"]
    assert reasons(after) == [*AFTER_FOLD, "m3", "m4"]


@pytest.mark.parametrize("end", ["failed", "lapsed"])
async def test_a_call_whose_worker_is_gone_is_folded(
    timed: Timed, session: SessionApi, end: str
) -> None:
    await run_turn(session)
    waiting = message("assistant", [tool_call("c1", state="pending")], "m3", turn_id="t")
    await session.append(waiting)
    if end == "failed":
        await put_turn(session, status="failed")
    else:
        timed.clock.advance(120)
    await compact(session)
    after = await session.prepare(include=["provenance"])
    late = await session.append(results("c1", message_id="m4"))
    stored = await session.prepare(include=["provenance"])

    assert reasons(after) == AFTER_FOLD
    assert late["message_count"] == 4
    assert reasons(stored) == AFTER_FOLD
    assert [repair["code"] for repair in stored["repairs"]] == ["result_of_summarised_call"]
