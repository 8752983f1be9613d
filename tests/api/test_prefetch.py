"""Summaries that are begun before their fold is due, and used once it is, if they still fit."""

from http import HTTPStatus
from typing import Any

import pytest

from tests.api.client import Api, Json, SessionApi, assistant, service, succeeded, user
from tests.api.compacting import (
    CLAIM_SECONDS,
    Held,
    Timed,
    compact,
    request_compaction,
    run_turn,
    start,
    texts,
)
from tests.api.reporting import series, totals_of
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

SETTINGS: Json = {"threshold": 8, "prefetch_ratio": 0.5, "keep_last": 2}
AWAKEN: Json = {"preset": "awaken", "compact": SETTINGS}
INTRODUCTION = "Summary of earlier conversation: "


async def add(session: SessionApi, first: int, last: int) -> None:
    """Append `message first` to `message last`, the last one left out."""
    said = (
        (user if number % 2 == 0 else assistant)(f"message {number}", f"m{number}")
        for number in range(first, last)
    )
    await session.append(*said)


async def talk(timed: Timed, count: int) -> SessionApi:
    session = await timed.session(policy=AWAKEN)
    await add(session, 0, count)
    return session


async def prefetched(session: SessionApi, summary: str = "S") -> Json:
    """What a worker does with an offer: the summary is ready then."""
    held = await start(session, kind="prefetch")
    return succeeded(await held.complete(summary))


async def offers(session: SessionApi, **body: Any) -> list[Json]:
    found: list[Json] = (await session.prepare(**body))["decision"]["background"]
    return found


@requirement("AW-compact-prefetch")
async def test_H15_the_soft_trigger_offers_a_summary_and_the_call_waits_for_nothing(
    timed: Timed,
) -> None:
    session = await talk(timed, 6)
    prepared = await session.prepare()
    (offer,) = prepared["decision"]["background"]
    held = await start(session, kind="prefetch")
    version = (await session.read())["version"]
    meanwhile = await offers(session)
    answer = succeeded(await held.complete("S"))
    after = await session.prepare()

    assert prepared["decision"]["action"] == "submit"
    assert offer == {"kind": "prefetch", "plan_key": held.answer["plan_key"]}
    assert (held.answer["source"]["message_count"], meanwhile) == (4, [])
    assert (answer["status"], answer["checkpoint"]) == ("completed", None)
    assert after["decision"]["background"] == []
    assert after["request"] == prepared["request"]
    assert (await session.read())["version"] == version


async def test_below_the_soft_trigger_nothing_is_offered(timed: Timed) -> None:
    assert await offers(await talk(timed, 4)) == []


async def test_H3_at_the_hard_trigger_a_ready_summary_is_shown_and_nobody_is_asked(
    timed: Timed,
) -> None:
    session = await talk(timed, 6)
    await prefetched(session)
    await add(session, 6, 12)
    await run_turn(session)
    prepared = await session.prepare(turn_id="t", model_call=1)
    bridge_and_tail = [f"message {number}" for number in range(4, 12)]
    (done,) = [
        row for row in (await session.read("compactions"))["items"] if row["kind"] == "threshold"
    ]

    assert (prepared["decision"]["action"], prepared["decision"]["reason"]) == (
        *("submit", "already_compacted"),
    )
    assert texts(prepared["request"]) == [f"{INTRODUCTION}S", *bridge_and_tail]
    assert prepared["prefix"]["cause"] is None
    assert (done["status"], done["turn_id"], done["model_call"]) == ("completed", "t", 1)
    assert done["checkpoint"]["through_sequence"] == 4
    again = await session.prepare(turn_id="t", model_call=1)
    assert again["prepared_id"] == prepared["prepared_id"]
    assert again["decision"]["action"] == "submit"


async def test_a_start_by_hand_of_the_worker_uses_it_too(timed: Timed) -> None:
    session = await talk(timed, 6)
    await prefetched(session)
    await add(session, 6, 12)
    await run_turn(session)
    body: Json = {"kind": "threshold", "turn_id": "t", "model_call": 1}
    first = await request_compaction(session, **body)
    second = await request_compaction(session, **body)

    assert (first.status_code, first.json()["status"]) == (HTTPStatus.CREATED, "completed")
    assert first.json()["checkpoint"]["summary"] == "S"
    assert "summary_request" not in first.json()
    assert second.status_code == HTTPStatus.CONFLICT
    assert second.json()["code"] == "already_compacted_in_call"


@requirement("AW-dynamic-artifact-must-fit")
@pytest.mark.parametrize("change", ["rewind", "policy", "fold"])
async def test_H5_a_summary_of_another_past_is_never_used(timed: Timed, change: str) -> None:
    session = await talk(timed, 6)
    await prefetched(session, "stale")
    match change:
        case "rewind":
            succeeded(await session.post("rewind", {"through_sequence": 3}))
            await add(session, 6, 18)
        case "policy":
            settings = {**SETTINGS, "agent_instructions": "Other."}
            patch = {"policy": {"preset": "awaken", "compact": settings}}
            succeeded(await session.client.patch(f"/v1/sessions/{session.id}", json=patch))
            await add(session, 6, 12)
        case _:
            await compact(session, "other")
            await add(session, 6, 14)
    await run_turn(session)
    prepared = await session.prepare(turn_id="t", model_call=1)
    held = await start(session, kind="threshold", turn_id="t", model_call=1)

    assert prepared["decision"]["action"] == "compact"
    succeeded(await held.complete("fresh"))
    shown = texts((await session.prepare(turn_id="t", model_call=1))["request"])
    assert shown[0] == f"{INTRODUCTION}fresh"
    assert "stale" not in "".join(shown)


async def test_the_artifact_that_covers_the_most_is_used(timed: Timed) -> None:
    session = await talk(timed, 5)
    await prefetched(session, "short")
    await add(session, 5, 7)
    await prefetched(session, "long")
    await add(session, 7, 12)
    shown = texts((await session.prepare())["request"])

    assert shown == [f"{INTRODUCTION}long", *(f"message {number}" for number in range(5, 12))]


@requirement("AW-compact-without-a-prefetched-summary")
async def test_H17_a_fold_of_the_same_plan_joins_the_run_that_is_under_way(timed: Timed) -> None:
    session = await talk(timed, 10)
    await run_turn(session)
    point: Json = {"turn_id": "t", "model_call": 1}
    held = await start(session, kind="prefetch")
    waiting = (await session.prepare(**point))["decision"]
    joined = await request_compaction(session, kind="threshold", **point)
    succeeded(await held.complete("S"))
    after = await session.prepare(**point)

    assert waiting["action"] == "wait"
    assert (joined.status_code, joined.json()["claim"]) == (HTTPStatus.OK, None)
    assert joined.json()["id"] == held.id
    assert texts(after["request"])[0] == f"{INTRODUCTION}S"


async def test_a_run_that_was_given_up_is_taken_over_by_the_fold(timed: Timed) -> None:
    session = await talk(timed, 10)
    held = await start(session, kind="prefetch")
    timed.clock.advance(CLAIM_SECONDS + 1)
    await run_turn(session)
    point: Json = {"turn_id": "t", "model_call": 1}
    wanted = (await session.prepare(**point))["decision"]
    taken = await request_compaction(session, kind="threshold", **point)
    answer = succeeded(await Held(session=session, answer=taken.json()).complete("S"))

    assert (wanted["action"], taken.json()["id"]) == ("compact", held.id)
    assert (taken.json()["kind"], answer["checkpoint"]["summary"]) == ("threshold", "S")


async def test_work_on_another_plan_is_in_nobody_s_way_and_is_ended_by_a_fold(
    timed: Timed,
) -> None:
    session = await talk(timed, 6)
    held = await start(session, kind="prefetch")
    await add(session, 6, 12)
    await run_turn(session)
    point: Json = {"turn_id": "t", "model_call": 1}
    wanted = (await session.prepare(**point))["decision"]
    await compact(session, "S", kind="threshold", **point)
    late = await held.complete("late")

    assert wanted["action"] == "compact"
    assert (late.status_code, late.json()["code"]) == (HTTPStatus.CONFLICT, "compaction_closed")
    assert late.json()["compaction_status"] == "superseded"


async def test_the_same_prefetch_again_is_the_same_one(timed: Timed) -> None:
    session = await talk(timed, 6)
    held = await start(session, kind="prefetch")
    pending = await request_compaction(session, kind="prefetch")
    await held.complete("S")
    done = await request_compaction(session, kind="prefetch")

    assert [found.status_code for found in (pending, done)] == [HTTPStatus.OK, HTTPStatus.OK]
    assert {pending.json()["id"], done.json()["id"]} == {held.id}
    assert [pending.json()["status"], done.json()["status"]] == ["pending", "completed"]


async def test_a_failed_one_is_not_offered_again_and_matters_to_nobody(timed: Timed) -> None:
    session = await talk(timed, 6)
    held = await start(session, kind="prefetch")
    for attempt in (1, 2, 3):
        await held.fail("transient", attempt)

    assert (await held.read())["status"] == "failed"
    assert await offers(session) == []
    assert (await start(session, kind="prefetch")).id != held.id


async def test_its_call_is_billed_once(timed: Timed) -> None:
    session = await talk(timed, 6)
    held = await start(session, kind="prefetch")
    await held.complete("S", usage={"input_tokens": 70, "output_tokens": 7})
    await add(session, 6, 12)
    await session.prepare()
    entries = [(entry["event"], entry["cause"]) for entry in await series(session)]

    assert (await totals_of(session))["input_tokens"] == 70
    assert entries == [(None, "prefetch"), ("compaction", "threshold")]


async def test_two_workers_and_a_restart_in_between_take_one_run_of_a_model(
    database_url: str,
) -> None:
    runs = 0
    async with service(database_url) as client:
        first = await Api(client=client).session("s", policy=AWAKEN)
        await add(first, 0, 6)
        assert len(await offers(first)) == 1
        await prefetched(first)
        runs += 1
    async with service(database_url) as client:
        second = SessionApi(client=client, id="s", created={})
        await add(second, 6, 12)
        await run_turn(second)
        prepared = await second.prepare(turn_id="t", model_call=1)
        runs += prepared["decision"]["action"] == "compact"
    async with service(database_url) as client:
        third = SessionApi(client=client, id="s", created={})
        resumed = await third.prepare(turn_id="t", model_call=2)
        runs += resumed["decision"]["action"] == "compact"

    assert runs == 1
    assert texts(resumed["request"]) == texts(prepared["request"])
    assert texts(resumed["request"])[0] == f"{INTRODUCTION}S"
