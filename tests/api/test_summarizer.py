"""Compactions that the service runs itself, against an endpoint that misbehaves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from app.compaction.record import Compaction, Runner
from app.services.claims import CompactionRequest
from app.services.compact import start_compaction
from app.services.complete import Completion, answer_compaction
from app.services.resources import Resources
from app.services.summaries import Pace, SummaryRuns
from app.services.summary_claims import MAX_CLAIMS, keep_claim, take_over
from app.store.compactions import CompactionRepository
from app.store.database import Database
from app.store.sessions import SessionRepository
from app.summarizer.client import Endpoint, Summarizer
from tests.api.client import Api, Json, SessionApi, assistant, service, succeeded, user
from tests.summarizer_endpoint import (
    Behaviour,
    MisbehavingEndpoint,
    answering,
    delta,
    gated,
    hanging,
    misbehaving,
    refusing,
    streaming,
    telling,
)
from tests.unit.compaction.summaries import SUMMARY

MANUAL = {"kind": "manual"}
RUN = {**MANUAL, "run": True}
GOOD = telling(SUMMARY, usage={"total_tokens": 5})
FAST: dict[str, Any] = {"summarizer_pause_seconds": 0, "summarizer_key": "sk-secret"}
PATIENCE = 600
"""Seconds after which a test that waits has failed; none comes near it."""


@asynccontextmanager
async def running(
    database_url: str, endpoint: MisbehavingEndpoint, **settings: Any
) -> AsyncIterator[Api]:
    """A service whose summarizer is the endpoint."""
    given = {"summarizer_url": endpoint.url, **FAST, **settings}
    async with asyncio.timeout(PATIENCE), service(database_url, **given) as client:
        yield Api(client=client)


async def talk(api: Api, session_id: str = "s") -> SessionApi:
    """A session with something to fold."""
    session = await api.session(session_id)
    await session.append(user("Write a parser.", "m1"), assistant("Written.", "m2"))
    await session.append(user("Now test it.", "m3"), assistant("Tested.", "m4"))
    return session


async def run(session: SessionApi) -> Json:
    return succeeded(await session.post("compactions", RUN))


async def ended(session: SessionApi, compaction_id: str) -> Json:
    """The compaction once it has ended."""
    while True:
        found = await session.read(f"compactions/{compaction_id}", wait_seconds=60)
        if found["status"] != "pending":
            return found


async def ran(database_url: str, *behaviours: Behaviour, **settings: Any) -> tuple[Json, int]:
    """How a run ends at an endpoint, and how often it was asked."""
    async with (
        misbehaving(*behaviours) as endpoint,
        running(database_url, endpoint, **settings) as api,
    ):
        session = await talk(api)
        compaction = await run(session)
        return await ended(session, compaction["id"]), len(endpoint.received)


@pytest.fixture
async def resources(database_url: str) -> AsyncIterator[Resources]:
    """What the use cases need, beside a service on the same database."""
    database = Database(database_url)
    yield Resources(
        database=database,
        now=lambda: datetime.now(UTC),
        new_id=lambda: uuid4().hex,
        new_window_id=lambda: str(uuid4()),
    )
    await database.close()


def later(resources: Resources, days: int = 1) -> Resources:
    """The same, when every claim has expired."""
    return replace(resources, now=lambda: datetime.now(UTC) + timedelta(days=days))


async def stored(resources: Resources, compaction_id: str) -> Compaction:
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get("s")
        return await CompactionRepository(connection, session.incarnation).get(compaction_id)


async def token_of(resources: Resources, compaction_id: str) -> str:
    claim = (await stored(resources, compaction_id)).claim
    assert claim is not None
    return claim.token


async def test_without_a_summarizer_a_run_is_refused(api: Api) -> None:
    session = await talk(api)
    answer = await session.post("compactions", RUN)

    assert (answer.status_code, answer.json()["code"]) == (422, "summarizer_not_configured")
    assert (await session.read("compactions"))["items"] == []


async def test_a_run_is_answered_at_once_and_completes(database_url: str) -> None:
    gate = asyncio.Event()
    async with (
        misbehaving(gated(gate, GOOD)) as endpoint,
        running(database_url, endpoint, summarizer_model="small") as api,
    ):
        session = await talk(api)
        started = await session.post("compactions", RUN)
        received = await endpoint.arrived.get()
        again = await session.post("compactions", RUN)
        worker = await session.post("compactions", MANUAL)
        gate.set()
        done = await ended(session, started.json()["id"])
        paid = await session.post("compactions", RUN)

    assert started.status_code == 201
    assert started.headers["retry-after"] == "2"
    assert (started.json()["status"], started.json()["claim"]) == ("pending", None)
    assert "summary_request" not in started.json()
    assert [each.status_code for each in (again, worker, paid)] == [200, 200, 200]
    assert again.json() == worker.json() == started.json()
    assert worker.headers["retry-after"] == "2"
    assert received.headers["authorization"] == "Bearer sk-secret"
    assert (received.body["model"], "tools" in received.body) == ("small", False)
    assert received.body["messages"][-1]["content"].startswith("Create a durable continuation")
    assert (done["status"], done["attempt"]) == ("completed", 1)
    assert done["checkpoint"]["summary"] == SUMMARY
    assert done["tokens"]["usage"] == {"total_tokens": 5}
    assert (paid.json(), "retry-after" in paid.headers) == (done, False)
    assert len(endpoint.received) == 1


async def test_the_same_idempotency_key_shows_no_claim_of_the_service(sqlite_url: str) -> None:
    async with misbehaving(hanging) as endpoint, running(sqlite_url, endpoint) as api:
        await talk(api)
        headers = {"idempotency-key": "k"}
        answers = [
            succeeded(
                await api.client.post("/v1/sessions/s/compactions", json=body, headers=headers)
            )
            for body in (RUN, RUN, MANUAL)
        ]

    assert [answer["claim"] for answer in answers] == [None, None, None]


@pytest.mark.parametrize(
    "first",
    [
        telling("no summary"),
        telling(SUMMARY, finish_reason="length"),
        refusing(429),
        refusing(500),
        streaming(delta(content="<conv")),
        streaming(delta(tool_calls=[{"index": 0}])),
        streaming("{garbage"),
        answering(200, b"not JSON"),
    ],
    ids=[
        "K13 invalid",
        "length",
        "429",
        "500",
        "truncated stream",
        "tool call",
        "garbage",
        "no document",
    ],
)
async def test_what_may_pass_is_asked_again(sqlite_url: str, first: Behaviour) -> None:
    done, asked = await ran(sqlite_url, first, GOOD)

    assert (done["status"], done["attempt"], asked) == ("completed", 2, 2)


async def test_attempts_that_hang_are_given_up_in_their_time(sqlite_url: str) -> None:
    done, _ = await ran(sqlite_url, hanging, summarizer_timeout_seconds=0.1)

    assert (done["status"], done["code"], done["attempt"]) == (
        "failed",
        "summary_retries_exhausted",
        3,
    )


async def test_three_attempts_are_all(sqlite_url: str) -> None:
    done, asked = await ran(sqlite_url, refusing(503))

    assert (done["status"], done["code"], done["attempt"], asked) == (
        "failed",
        "summary_retries_exhausted",
        3,
        3,
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_failure_that_will_stay_is_asked_for_once(sqlite_url: str, status: int) -> None:
    done, asked = await ran(sqlite_url, refusing(status, message="sk-secret"))

    assert (done["status"], done["code"], done["attempt"], asked) == (
        "failed",
        "summarizer_failed",
        1,
        1,
    )


async def test_an_answer_without_end_is_asked_for_once(sqlite_url: str) -> None:
    huge = streaming(*(delta(content="x" * 1024 * 1024) for _ in range(33)))
    done, asked = await ran(sqlite_url, huge)

    assert (done["code"], asked) == ("summarizer_failed", 1)


async def test_an_overflow_makes_the_next_request_smaller(sqlite_url: str) -> None:
    async with (
        misbehaving(refusing(400, code="context_length_exceeded"), GOOD) as endpoint,
        running(sqlite_url, endpoint) as api,
    ):
        session = await api.session()
        await session.append(user("Read."), assistant("It says: " + "word " * 20_000))
        done = await ended(session, (await run(session))["id"])

    first, second = (len(str(received.body)) for received in endpoint.received)

    assert (done["status"], done["attempt"]) == ("completed", 2)
    assert second < first


async def test_words_of_the_endpoint_and_the_key_reach_no_log(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    done, _ = await ran(sqlite_url, refusing(401, code="invalid_api_key", message="Write a parser"))

    assert done["status"] == "failed"
    assert "HTTP 401 (invalid_api_key)" in caplog.text
    assert not [word for word in ("parser", "sk-secret", "Bearer") if word in caplog.text]


async def test_a_rewind_ends_the_run(database_url: str) -> None:
    async with misbehaving(hanging) as endpoint, running(database_url, endpoint) as api:
        session = await talk(api)
        compaction = await run(session)
        await endpoint.arrived.get()
        succeeded(await session.post("rewind", {"through_sequence": 2}))
        await endpoint.hung_up.wait()
        found = await ended(session, compaction["id"])

    assert found["status"] == "superseded"
    assert len(endpoint.received) == 1


async def test_an_erased_session_ends_the_run(database_url: str) -> None:
    async with misbehaving(hanging) as endpoint, running(database_url, endpoint) as api:
        session = await talk(api)
        await run(session)
        await endpoint.arrived.get()
        await api.client.delete(f"/v1/sessions/{session.id}")
        await endpoint.hung_up.wait()

    assert len(endpoint.received) == 1


async def test_a_completion_from_elsewhere_ends_the_run(
    database_url: str, resources: Resources
) -> None:
    async with misbehaving(hanging) as endpoint, running(database_url, endpoint) as api:
        session = await talk(api)
        compaction = await run(session)
        await endpoint.arrived.get()
        event = Completion(
            claim=await token_of(resources, compaction["id"]),
            attempt=1,
            summary=SUMMARY,
            finish_reason=None,
            tool_calls=0,
            usage=None,
        )
        await answer_compaction(resources, "s", compaction["id"], event)
        await endpoint.hung_up.wait()
        found = await ended(session, compaction["id"])

    assert (found["status"], found["attempt"]) == ("completed", 1)


async def test_an_answer_that_comes_too_late_changes_nothing(sqlite_url: str) -> None:
    gate = asyncio.Event()
    async with (
        misbehaving(gated(gate, GOOD)) as endpoint,
        running(sqlite_url, endpoint) as api,
    ):
        session = await talk(api)
        compaction = await run(session)
        await endpoint.arrived.get()
        succeeded(await session.post("rewind", {"through_sequence": 2}))
        gate.set()
        found = await ended(session, compaction["id"])

    assert (found["status"], found["checkpoint"]) == ("superseded", None)


async def test_a_run_survives_the_end_of_its_process(database_url: str) -> None:
    async with misbehaving(hanging, GOOD) as endpoint:
        first = {"claim_seconds": 1, "summarizer_sweep_seconds": PATIENCE}
        async with running(database_url, endpoint, **first) as api:
            compaction = await run(await talk(api))
            await endpoint.arrived.get()
        async with running(database_url, endpoint, summarizer_sweep_seconds=0.05) as api:
            done = await ended(SessionApi(client=api.client, id="s", created={}), compaction["id"])

    assert (done["status"], done["attempt"]) == ("completed", 1)
    assert len(endpoint.received) == 2


async def test_a_claim_is_renewed_while_its_run_lives(
    database_url: str, resources: Resources
) -> None:
    async with (
        misbehaving(hanging) as endpoint,
        running(database_url, endpoint, summarizer_sweep_seconds=PATIENCE) as api,
    ):
        session = await talk(api)
        clock = Clock(datetime.now(UTC))
        async with summary_runs(replace(resources, now=clock, claim_seconds=2), endpoint) as runs:
            claimed = await runs.start(session.id, wanted("service"))
            clock.time += timedelta(seconds=1.5)
            await renewal(resources, claimed.compaction)
            clock.time += timedelta(seconds=1.5)
            await runs.sweep()
            found = await stored(resources, claimed.compaction.id)

    assert claimed.request is None
    assert found.issued_tokens == claimed.compaction.issued_tokens


class Clock:
    """A clock that only a test moves."""

    def __init__(self, time: datetime) -> None:
        self.time = time

    def __call__(self) -> datetime:
        return self.time


async def renewal(resources: Resources, compaction: Compaction) -> None:
    """Wait until the claim on a compaction expires later than it did."""
    before = compaction.claim
    while (await stored(resources, compaction.id)).claim == before:
        pass


@asynccontextmanager
async def summary_runs(
    resources: Resources, endpoint: MisbehavingEndpoint
) -> AsyncIterator[SummaryRuns]:
    """The runs of another process."""
    options = Endpoint(url=endpoint.url, key=None, model=None, timeout_seconds=PATIENCE)
    pace = Pace(pause_seconds=0, sweep_seconds=PATIENCE, at_once=2)
    async with (
        asyncio.timeout(PATIENCE),
        Summarizer(options) as summarizer,
        SummaryRuns(resources, summarizer, pace) as runs,
    ):
        yield runs


def wanted(runner: Runner) -> CompactionRequest:
    return CompactionRequest(
        kind="manual",
        turn_id=None,
        model_call=None,
        phase="standalone",
        instructions=None,
        style="conversation",
        other_plan="refuse",
        key=None,
        runner=runner,
    )


async def test_of_two_processes_one_takes_a_run_over(
    database_url: str, resources: Resources
) -> None:
    async with misbehaving(hanging) as endpoint:
        async with running(database_url, endpoint) as api:
            compaction = await run(await talk(api))
        early = await take_over(resources, "s", compaction["id"])
        taken = await asyncio.gather(
            *(take_over(later(resources), "s", compaction["id"]) for _ in range(2))
        )
        token = await token_of(resources, compaction["id"])

    assert early is None
    assert sorted(found is None for found in taken) == [False, True]
    assert await keep_claim(resources, "s", compaction["id"], token) is True
    assert await keep_claim(resources, "s", compaction["id"], "claim-of-before") is False


async def test_a_worker_takes_a_lapsed_run_over_and_keeps_it(
    database_url: str, resources: Resources
) -> None:
    async with misbehaving(hanging) as endpoint:
        async with running(database_url, endpoint) as api:
            compaction = await run(await talk(api))
        held = await start_compaction(later(resources), "s", wanted("worker"))
        retaken = await take_over(later(resources, 2), "s", compaction["id"])

    assert (held.compaction.id, held.outcome) == (compaction["id"], "claimed")
    assert held.request is not None
    assert retaken is None


async def test_a_run_takes_over_what_a_worker_left(database_url: str, resources: Resources) -> None:
    async with misbehaving(GOOD) as endpoint, running(database_url, endpoint) as api:
        session = await talk(api)
        left = succeeded(await session.post("compactions", MANUAL))
        async with summary_runs(later(resources), endpoint) as runs:
            taken = await runs.start("s", wanted("service"))
            done = await ended(session, left["id"])

    assert (taken.compaction.id, taken.outcome) == (left["id"], "claimed")
    assert (done["status"], len(endpoint.received)) == ("completed", 1)


async def test_a_run_that_always_ends_with_its_process_is_given_up(
    database_url: str, resources: Resources
) -> None:
    async with misbehaving(hanging) as endpoint:
        async with running(database_url, endpoint) as api:
            compaction = await run(await talk(api))
        taken = [
            await take_over(later(resources, day), "s", compaction["id"])
            for day in range(1, MAX_CLAIMS + 1)
        ]
        found = await stored(resources, compaction["id"])

    assert [each is None for each in taken] == [*[False] * (MAX_CLAIMS - 1), True]
    assert (found.status, found.failure_code, found.claim) == ("failed", "summarizer_failed", None)


async def test_a_sweep_takes_over_no_more_than_can_be_asked_for(
    database_url: str, resources: Resources
) -> None:
    async with misbehaving(hanging) as endpoint:
        async with running(database_url, endpoint) as api:
            for name in "abc":
                await run(await talk(api, name))
                await endpoint.arrived.get()
        async with summary_runs(later(resources), endpoint) as runs:
            await endpoint.arrived.get()
            await endpoint.arrived.get()
            await runs.sweep()

    assert len(endpoint.received) == 5


async def test_so_many_summaries_are_asked_for_at_once(sqlite_url: str) -> None:
    gate = asyncio.Event()
    async with (
        misbehaving(gated(gate, GOOD)) as endpoint,
        running(sqlite_url, endpoint, summarizer_concurrency=2) as api,
    ):
        sessions = [await talk(api, name) for name in "abcd"]
        started = [await run(session) for session in sessions]
        gate.set()
        done = [
            await ended(session, compaction["id"])
            for session, compaction in zip(sessions, started, strict=True)
        ]

    assert [each["status"] for each in done] == ["completed"] * 4
    assert endpoint.most_active == 2
