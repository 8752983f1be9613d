"""The calls of summaries are billed: in the session's totals and in the series."""

from typing import Any

import pytest

from tests.api.client import Api, Json, SessionApi, assistant, service, succeeded, user
from tests.api.compacting import LINE, POINT, Timed, compact, refusal, run_turn, start
from tests.api.reporting import report, series, totals, totals_of, usage_of
from tests.requirements import requirement
from tests.summarizer_endpoint import misbehaving, telling
from tests.unit.compaction.summaries import SUMMARY

pytestmark = pytest.mark.asyncio(loop_scope="module")

ESTIMATED: Json = {"preset": "openwork", "missing_summary_usage": "estimated"}
NAMES = (
    *("event", "cause", "model", "input_tokens", "output_tokens", "total_tokens"),
    *("window_number", "estimated"),
)


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session with one request and its answer."""
    return talk


async def bills(session: SessionApi) -> list[tuple[object, ...]]:
    """What the series says of every entry: event, cause, model, numbers, window, estimated."""
    return [tuple(entry[name] for name in NAMES) for entry in await series(session)]


def told(answer: Any) -> Json:
    body: Json = answer.json()
    return body


async def talking(timed: Timed, **fields: Any) -> SessionApi:
    session = await timed.session(**fields)
    await session.append(user("Fix the build.", "m1"), assistant("Done.", "m2"))
    return session


@requirement("GO-7.4-compaction-is-billed")
async def test_S1_the_call_of_a_summary_is_billed(session: SessionApi) -> None:
    await report(session, input_tokens=600, output_tokens=400)
    held = await start(session)
    await held.complete(usage={"input_tokens": 6_700, "output_tokens": 200})

    assert await totals_of(session) == totals(1, input_tokens=7_300, output_tokens=600)
    assert (await bills(session))[-1] == (
        *("compaction", "manual", "model-a", 6_700, 200, None),
        *(1, False),
    )


async def test_S2_where_the_policy_says_so_a_summary_without_usage_counts_estimates(
    timed: Timed,
) -> None:
    session = await talking(timed, policy=ESTIMATED)
    held = await start(session)
    await held.complete()
    counted = await totals_of(session)
    (entry,) = await series(session)
    estimates = (entry["input_tokens"], entry["output_tokens"])

    assert entry["estimated"]
    assert min(estimates) > 50
    assert entry["total_tokens"] == sum(estimates)
    assert counted == totals(0, input_tokens=estimates[0], output_tokens=estimates[1])


async def test_S2_so_it_is_with_preset_goose(timed: Timed) -> None:
    session = await talking(timed, policy="goose")
    await (await start(session)).complete("In short.")
    (entry,) = await series(session)

    assert entry["estimated"]
    assert entry["total_tokens"] == entry["input_tokens"] + entry["output_tokens"]
    assert (await totals_of(session))["input_tokens"] == entry["input_tokens"] > 50


async def test_S2_else_it_is_unknown_and_adds_nothing(session: SessionApi) -> None:
    await compact(session)

    assert await totals_of(session) == totals(0)
    assert await bills(session) == [
        ("compaction", "manual", "model-a", None, None, None, 1, False),
    ]


async def test_S4_the_whole_answer_is_billed_whatever_of_it_is_kept(timed: Timed) -> None:
    session = await talking(timed, policy=ESTIMATED)
    held = await start(session)
    answer = await held.complete(usage={"input_tokens": 6_700, "output_tokens": 900})
    more = "word " * 600
    other = await talking(timed, policy=ESTIMATED | {"preset": "codex"})
    wordy = await start(other)
    await wordy.complete(more, usage={"input_tokens": 6_700})

    assert told(answer)["tokens"]["usage"] == {"input_tokens": 6_700, "output_tokens": 900}
    assert await totals_of(session) == totals(0, input_tokens=6_700, output_tokens=900)
    assert (await bills(session))[-1][-1] is False
    assert (await totals_of(other))["output_tokens"] >= 600
    assert (await bills(other))[-1][-1] is True


async def test_S6_the_next_call_is_the_context_again(session: SessionApi) -> None:
    held = await start(session)
    await held.complete(usage={"input_tokens": 6_700, "output_tokens": 200})
    between = (await usage_of(session))["last_total"]
    await report(session, input_tokens=6_300, output_tokens=100)
    after = await usage_of(session)

    assert between["source"] == "estimated"
    assert after["last_total"]["tokens"] == 6_400
    assert after["totals"] == totals(1, input_tokens=13_000, output_tokens=300)


async def test_a_rejected_attempt_is_billed_and_so_is_a_failed_one(session: SessionApi) -> None:
    held = await start(session)
    await held.complete("no", usage={"input_tokens": 100, "output_tokens": 1})
    await held.fail("transient", 2, usage={"input_tokens": 200, "total_tokens": 200})
    await held.complete(SUMMARY, 3, usage={"input_tokens": 300, "output_tokens": 40})

    assert await totals_of(session) == totals(0, input_tokens=600, output_tokens=41)
    assert await bills(session) == [
        (None, "summary_unused", "model-a", 100, 1, None, 0, False),
        (None, "summary_unused", "model-a", 200, None, 200, 0, False),
        ("compaction", "manual", "model-a", 300, 40, None, 1, False),
    ]


async def test_a_rejected_answer_without_usage_is_estimated_and_a_failure_is_not(
    timed: Timed,
) -> None:
    session = await talking(timed, policy=ESTIMATED)
    held = await start(session)
    await held.fail("timeout", 1)
    await held.complete("no", 2)
    (entry,) = await bills(session)

    assert (entry[:2], entry[-1]) == ((None, "summary_unused"), True)
    assert entry[3] is not None
    assert entry[4] == 1


async def test_a_compaction_that_fails_is_billed_for_every_attempt(session: SessionApi) -> None:
    before = await session.read()
    held = await start(session)
    for attempt in (1, 2, 3):
        last = await held.complete("no", attempt, usage={"input_tokens": 100, "output_tokens": 1})
    after = await session.read()

    assert told(last)["status"] == "failed"
    assert after["usage"]["totals"] == totals(0, input_tokens=300, output_tokens=3)
    assert after["version"] == before["version"] + 3


async def test_a_repeat_is_billed_once(session: SessionApi) -> None:
    held = await start(session)
    rejected = {"input_tokens": 100, "output_tokens": 1}
    accepted = {"input_tokens": 300, "output_tokens": 40}
    for _ in range(2):
        await held.complete("no", usage=rejected)
    for _ in range(2):
        last = await held.complete(attempt=2, usage=accepted)

    assert told(last)["status"] == "completed"
    assert await totals_of(session) == totals(0, input_tokens=400, output_tokens=41)
    assert len(await series(session)) == 2


async def test_what_is_refused_is_not_billed(session: SessionApi) -> None:
    held = await start(session)
    await held.complete(usage={"input_tokens": 300, "output_tokens": 40})
    refused = await held.complete(attempt=2, usage={"input_tokens": 1})

    assert refusal(refused) == (409, "compaction_closed")
    assert await totals_of(session) == totals(0, input_tokens=300, output_tokens=40)


async def test_a_provider_object_is_billed_by_its_family_and_kept_as_given(
    session: SessionApi,
) -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 6_690, "output_tokens": 200}
    raw = {"raw": {"format": "anthropic.messages", "usage": usage}}
    answer = told(await (await start(session)).complete(usage=raw))

    assert answer["tokens"]["usage"] == raw
    assert await totals_of(session) == totals(
        0, input_tokens=6_700, cached_input_tokens=6_690, output_tokens=200
    )


async def test_fields_that_count_nothing_are_kept_beside_the_numbers(session: SessionApi) -> None:
    usage = {"input_tokens": 5, "output_tokens": None, "service_tier": "batch", "cost": 0.25}
    answer = told(await (await start(session)).complete(usage=usage))

    assert answer["tokens"]["usage"] == usage
    assert await totals_of(session) == totals(0, input_tokens=5)


@pytest.mark.parametrize(
    ("usage", "code"),
    [
        ({"input_tokens": -1}, "invalid_request"),
        ({"output_tokens": "many"}, "invalid_request"),
        ({"input_tokens": 1, "raw": {"format": "openai.chat", "usage": {}}}, "invalid_request"),
        ({"raw": {"format": "morse", "usage": {}}}, "invalid_request"),
        ({"raw": {"format": "openai.chat", "usage": {"prompt_tokens": -1}}}, "invalid_usage"),
        ({"raw": {"format": "openai.chat", "usage": []}}, "invalid_usage"),
    ],
)
async def test_what_is_no_usage_is_refused_and_spends_no_attempt(
    session: SessionApi, usage: Json, code: str
) -> None:
    held = await start(session)

    assert refusal(await held.complete(usage=usage)) == (422, code)
    assert refusal(await held.fail("timeout", usage=usage)) == (422, code)
    assert (await held.read())["attempt"] == 1


async def test_the_bill_names_the_model_that_was_asked(session: SessionApi) -> None:
    await session.prepare()
    changed = {"model": "model-b", "model_profile": {**LINE, "name": "model-b"}}
    await session.client.patch(f"/v1/sessions/{session.id}", json=changed)
    await session.append(user("And now?", "m3"))
    await run_turn(session)
    held = await start(session, kind="model_downshift", **POINT)
    await held.complete(usage={"input_tokens": 100, "output_tokens": 9})

    assert held.answer["compact_with_model"] == "model-a"
    assert (await bills(session))[-1][:5] == ("compaction", "model_downshift", "model-a", 100, 9)


async def test_a_rewind_has_no_bill(session: SessionApi) -> None:
    await session.post("rewind", {"through_sequence": 0})

    assert await totals_of(session) == totals(0)
    assert (await bills(session))[-1] == (
        *("compaction", "rewind", "model-a", None, None, None),
        *(1, False),
    )


async def test_the_session_is_billed_for_what_the_endpoint_says(sqlite_url: str) -> None:
    counted = {"prompt_tokens": 900, "completion_tokens": 40}
    behaviours = (
        telling("no", usage={"prompt_tokens": -1}),
        telling("no", usage={"prompt_tokens": 7}),
        telling(SUMMARY, usage=counted),
    )
    async with misbehaving(*behaviours) as endpoint:
        settings: Json = {"summarizer_url": endpoint.url, "summarizer_pause_seconds": 0}
        async with service(sqlite_url, **settings) as client:
            session = await Api(client=client).session()
            await session.append(user("Fix the build.", "m1"), assistant("Done.", "m2"))
            run = succeeded(await session.post("compactions", {"kind": "manual", "run": True}))
            done = await session.read(f"compactions/{run['id']}", wait_seconds=60)
            entries = await series(session)

    assert done["tokens"]["usage"] == counted
    assert [(each["event"], each["input_tokens"], each["output_tokens"]) for each in entries] == [
        (None, 7, None),
        ("compaction", 900, 40),
    ]
