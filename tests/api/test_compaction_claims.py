"""Claims over HTTP: kept, repeated, expired, taken over; and answers that were lost on the way."""

from dataclasses import replace
from http import HTTPStatus

import httpx
import pytest

from tests.api.client import Json, SessionApi, assistant, service, user
from tests.api.compacting import (
    CLAIM_SECONDS,
    LINE,
    LONG,
    POINT,
    Held,
    Timed,
    compact,
    put_turn,
    refusal,
    request_compaction,
    run_turn,
    start,
    summary_of,
    texts,
)
from tests.summarizer_endpoint import misbehaving, refusing
from tests.unit.compaction.summaries import SUMMARY

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def taken_over(timed: Timed, session: SessionApi) -> Held:
    """A claim that somebody takes once the one before has expired."""
    timed.clock.advance(CLAIM_SECONDS)
    return Held(session=session, answer=(await request_compaction(session)).json())


async def test_an_expired_claim_is_taken_over_with_the_same_request(
    timed: Timed, talk: SessionApi
) -> None:
    first = await start(talk)
    timed.clock.advance(CLAIM_SECONDS - 1)
    early = (await request_compaction(talk)).json()
    timed.clock.advance(1)
    response = await request_compaction(talk)
    second = Held(session=talk, answer=response.json())

    assert early["claim"] is None
    assert response.status_code == HTTPStatus.OK
    assert "Retry-After" not in response.headers
    assert (second.id, second.answer["attempt"]) == (first.id, 1)
    assert second.token != first.token
    assert second.answer["summary_request"] == first.answer["summary_request"]
    assert (await second.complete()).json()["status"] == "completed"


async def test_a_usable_summary_counts_under_a_claim_that_was_lost(
    timed: Timed, talk: SessionApi
) -> None:
    first = await start(talk)
    second = await taken_over(timed, talk)
    await second.complete("no")
    won = (await first.complete(summary_of("a parser"))).json()
    lost = await second.complete(summary_of("a lexer"), 2)

    assert won["status"] == "completed"
    assert refusal(lost) == (HTTPStatus.CONFLICT, "compaction_closed")
    assert lost.json()["checkpoint"] == won["checkpoint"]


async def test_any_other_report_under_a_lost_claim_burns_no_attempt(
    timed: Timed, talk: SessionApi
) -> None:
    first = await start(talk)
    second = await taken_over(timed, talk)
    refused = [await first.complete("no"), await first.fail("timeout")]

    assert [refusal(response) for response in refused] == [(HTTPStatus.CONFLICT, "claim_lost")] * 2
    assert (await second.complete("no")).json()["attempts_left"] == 2


async def test_an_expired_claim_that_nobody_took_over_still_counts(
    timed: Timed, talk: SessionApi
) -> None:
    held = await start(talk)
    timed.clock.advance(10 * CLAIM_SECONDS)
    rejected = (await held.complete("no")).json()
    elsewhere = (await request_compaction(talk)).json()

    assert (rejected["status"], rejected["attempt"]) == ("pending", 2)
    assert elsewhere["claim"] is None


async def test_every_pending_answer_renews_the_claim(timed: Timed, talk: SessionApi) -> None:
    held = await start(talk)
    for attempt in (1, 2):
        timed.clock.advance(CLAIM_SECONDS - 1)
        await held.fail("timeout", attempt)
    timed.clock.advance(CLAIM_SECONDS - 1)

    assert (await request_compaction(talk)).json()["claim"] is None


async def test_another_plan_takes_the_place_of_one_that_nobody_holds(
    timed: Timed, talk: SessionApi
) -> None:
    first = await start(talk)
    await talk.append(user("And the tests."))
    refused = await request_compaction(talk)
    timed.clock.advance(CLAIM_SECONDS)
    second = await start(talk)

    assert refusal(refused) == (HTTPStatus.CONFLICT, "compaction_in_progress")
    assert (await first.read())["status"] == "superseded"
    assert second.answer["source"]["message_count"] == 3


async def test_a_turn_that_takes_a_compaction_over_compacts_its_own_model_call(
    timed: Timed, talk: SessionApi
) -> None:
    await run_turn(talk, "t1")
    first = await start(talk, kind="threshold", turn_id="t1", model_call=4)
    timed.clock.advance(CLAIM_SECONDS)
    await run_turn(talk, "t2", plan={"steps": [{"step": "test", "status": "pending"}]})
    response = await request_compaction(talk, kind="overflow", turn_id="t2", model_call=1)
    second = Held(session=talk, answer=response.json())
    completed = (await second.complete()).json()
    await talk.append(assistant("Next."))
    again = await request_compaction(talk, kind="overflow", turn_id="t2", model_call=1)

    assert second.id == first.id
    assert [second.answer[name] for name in ("kind", "turn_id", "model_call")] == [
        "overflow",
        "t2",
        1,
    ]
    assert "- [pending] test" in completed["checkpoint"]["runtime_reminder"]
    assert refusal(again) == (HTTPStatus.CONFLICT, "already_compacted_in_call")


async def test_a_turn_whose_worker_died_blocks_no_compaction_and_no_rewind(
    timed: Timed, talk: SessionApi
) -> None:
    await run_turn(talk, lease_seconds=60)
    timed.clock.advance(59)
    early = await request_compaction(talk)
    timed.clock.advance(1)
    held = await start(talk)
    rewound = await talk.post("rewind", {"through_sequence": 1})

    assert refusal(early) == (HTTPStatus.CONFLICT, "session_active")
    assert rewound.status_code == HTTPStatus.CREATED
    assert (await held.read())["status"] == "superseded"


async def test_a_repeat_with_the_same_key_gets_its_claim_again(
    timed: Timed, talk: SessionApi
) -> None:
    held = await start(talk, "key-1")
    await talk.append(user("And the tests."))
    again = await request_compaction(talk, "key-1")
    other = await request_compaction(talk, "key-2")
    timed.clock.advance(CLAIM_SECONDS)
    renewed = (await request_compaction(talk, "key-1")).json()

    assert (again.status_code, again.json()) == (HTTPStatus.OK, held.answer)
    assert refusal(other) == (HTTPStatus.CONFLICT, "compaction_in_progress")
    assert renewed["claim"]["token"] != held.token
    assert renewed["summary_request"] == held.answer["summary_request"]


async def test_a_key_that_took_a_compaction_over_gets_it_again(
    timed: Timed, talk: SessionApi
) -> None:
    first = await start(talk, "key-1")
    timed.clock.advance(CLAIM_SECONDS)
    second = await request_compaction(talk, "key-2")
    again = await request_compaction(talk, "key-2")
    loser = await request_compaction(talk, "key-1")

    assert second.json()["id"] == first.id
    assert again.json() == second.json()
    assert (loser.json()["id"], loser.json()["claim"]) == (first.id, None)


@pytest.mark.parametrize("ended", ["completed", "failed", "superseded"])
async def test_a_repeat_with_the_same_key_finds_how_its_compaction_ended(
    talk: SessionApi, ended: str
) -> None:
    await run_turn(talk)
    held = await start(talk, "key-1", kind="threshold", **POINT)
    match ended:
        case "completed":
            await held.complete()
        case "failed":
            for attempt in (1, 2, 3):
                await held.fail("timeout", attempt)
        case _:
            await start(talk, kind="threshold", supersede=True, instructions="x", **POINT)
    await put_turn(talk, status="completed")
    again = await request_compaction(talk, "key-1", kind="threshold", **POINT)

    assert again.status_code == HTTPStatus.OK
    assert again.json() == await held.read()
    assert again.json()["status"] == ended


async def test_equal_keys_of_two_sessions_are_two_compactions(
    timed: Timed, talk: SessionApi
) -> None:
    other = await timed.session()
    await other.append(user("Hello."))
    first, second = await start(talk, "key-1"), await start(other, "key-1")

    assert first.id != second.id


async def test_equal_keys_of_a_compaction_and_a_rewind_are_two_calls(talk: SessionApi) -> None:
    held = await start(talk, "key-1")
    await held.complete()
    rewound, _ = await repeated(talk, "rewind", {"compaction_id": held.id}, "key-1")

    assert rewound.json()["kind"] == "rewind"
    assert rewound.json()["parent_compaction_id"] == held.id


async def repeated(session: SessionApi, path: str, body: Json, key: str) -> list[httpx.Response]:
    """The answers to a call whose first answer was lost, and to its repeat."""
    address = f"/v1/sessions/{session.id}/{path}"
    headers = {"Idempotency-Key": key}
    return [await session.client.post(address, json=body, headers=headers) for _ in range(2)]


async def test_no_lost_answer_costs_an_attempt_or_a_second_summary(timed: Timed) -> None:
    session = await timed.session(model_profile=LINE)
    await run_turn(session)
    body = {**POINT, "append": [user(LONG, "m1")], "start_compaction": True}
    prepares = [answer.json() for answer in await repeated(session, "prepare", body, "prepare-1")]
    held = Held(session=session, answer=prepares[0]["decision"]["compaction"])
    said = {"claim": held.token}
    rejects = await repeated(
        session,
        f"compactions/{held.id}/complete",
        {**said, "attempt": 1, "summary": "no"},
        "complete-1",
    )
    failures = await repeated(
        session, f"compactions/{held.id}/fail", {**said, "attempt": 2, "error": "timeout"}, "fail-2"
    )
    completes = await repeated(
        session,
        f"compactions/{held.id}/complete",
        {**said, "attempt": 3, "summary": SUMMARY},
        "complete-3",
    )

    assert prepares[1]["decision"] == prepares[0]["decision"]
    assert prepares[1]["request"] == prepares[0]["request"]
    for first, second in (rejects, failures, completes):
        assert (second.status_code, second.content) == (HTTPStatus.OK, first.content)
    assert (await held.read())["attempt"] == 3
    assert [entry["id"] for entry in (await session.read("compactions"))["items"]] == [held.id]
    assert (await session.read())["window"]["number"] == 1


async def test_a_lost_answer_to_a_rewind_is_no_second_rewind(talk: SessionApi) -> None:
    checkpoint = (await compact(talk))["checkpoint"]
    first, second = await repeated(talk, "rewind", {"undo_compaction": checkpoint["id"]}, "key-1")

    assert (first.status_code, second.status_code) == (HTTPStatus.CREATED, HTTPStatus.CREATED)
    assert second.json() == first.json()
    assert (await talk.read())["window"]["number"] == 2


async def test_without_a_key_a_prepare_that_lost_its_claim_waits_for_it_to_expire(
    timed: Timed,
) -> None:
    session = await timed.session(model_profile=LINE)
    await run_turn(session, lease_seconds=10 * CLAIM_SECONDS)
    body = {**POINT, "append": [user(LONG, "m1")], "start_compaction": True}
    first = (await session.post("prepare", body)).json()["decision"]
    second = (await session.post("prepare", body)).json()["decision"]
    timed.clock.advance(CLAIM_SECONDS)
    third = (await session.post("prepare", body)).json()["decision"]

    assert [decision["action"] for decision in (first, second, third)] == [
        "compact",
        "wait",
        "compact",
    ]
    assert third["compaction"]["id"] == first["compaction"]["id"]
    assert third["compaction"]["claim"]["token"] != first["compaction"]["claim"]["token"]


async def test_a_summary_that_arrives_twice_is_installed_once(talk: SessionApi) -> None:
    held = await start(talk)
    first, second = await held.complete(), await held.complete()
    prepared = (await talk.prepare())["request"]

    assert second.content == first.content
    assert sum(SUMMARY in text for text in texts(prepared)) == 1


async def test_a_repeat_of_a_run_that_has_ended_asks_nobody_again(
    module_database_url: str, talk: SessionApi
) -> None:
    async with (
        misbehaving(refusing(HTTPStatus.UNAUTHORIZED)) as endpoint,
        service(module_database_url, summarizer_url=endpoint.url) as client,
    ):
        session = replace(talk, client=client)
        first = (await request_compaction(session, "k", run=True)).json()
        done = await session.read(f"compactions/{first['id']}", wait_seconds=60)
        await session.append(user("Go on.", "m3"))
        again = await request_compaction(session, "k", run=True)
        other = (await request_compaction(session, "another", run=True)).json()
        await session.read(f"compactions/{other['id']}", wait_seconds=60)

    assert (done["status"], done["code"]) == ("failed", "summarizer_failed")
    assert (again.status_code, again.json()) == (HTTPStatus.OK, done)
    assert other["id"] != first["id"]
    assert len(endpoint.received) == 2
