"""Attempts of a codex compaction: overflows cost none, and only a blank text is refused."""

import pytest

from tests.api.client import Api, Json, SessionApi, assistant, calls, results, succeeded, user
from tests.api.codex_sessions import SAID, codex_session, codex_talk, seen, shown, summary
from tests.api.compacting import Held, Timed, start, texts
from tests.api.on_one_database import ON_SQLITE
from tests.api.test_summarizer import RUN, ended, running
from tests.summarizer_endpoint import Behaviour, misbehaving, refusing, telling

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOO_LONG = refusing(400, code="context_length_exceeded")


def roles(request: Json) -> list[str]:
    return [entry["role"] for entry in request["messages"] if entry["role"] != "system"]


async def overflow(held: Held, attempt: int) -> Json:
    return succeeded(await held.fail("context_overflow", attempt))


async def test_an_overflow_drops_the_oldest_message_and_costs_no_attempt(timed: Timed) -> None:
    held = await start(await codex_talk(timed))
    counts = [len(roles(held.answer["summary_request"]))]
    left = []
    for attempt in range(1, 6):
        answer = await overflow(held, attempt)
        counts.append(len(roles(answer["summary_request"])))
        left.append((answer["attempt"], answer["attempts_left"]))
    failed = await overflow(held, 6)

    assert counts == [7, 6, 4, 3, 2, 1]
    assert left == [(attempt, 3) for attempt in range(2, 7)]
    assert (failed["status"], failed["code"]) == ("failed", "cannot_fit")


async def test_a_repeated_report_of_an_overflow_drops_nothing_more(timed: Timed) -> None:
    held = await start(await codex_talk(timed))
    first = await overflow(held, 1)

    assert await overflow(held, 1) == first
    assert (await overflow(held, 2))["summary_request"] != first["summary_request"]


async def test_after_an_overflow_all_attempts_are_left_again(timed: Timed) -> None:
    held = await start(await codex_talk(timed))
    await held.fail("transient", 1)
    await held.fail("transient", 2)
    answer = await overflow(held, 3)
    endings = [(await held.fail("transient", attempt)).json() for attempt in (4, 5, 6)]

    assert (answer["attempt"], answer["attempts_left"]) == (4, 3)
    assert [ending["status"] for ending in endings] == ["pending", "pending", "failed"]
    assert endings[-1]["code"] == "summary_retries_exhausted"
    assert (await held.read())["max_attempts"] == 6


async def test_what_was_dropped_from_the_request_is_kept_in_the_session(timed: Timed) -> None:
    session = await codex_talk(timed)
    held = await start(session)
    for attempt in range(1, 6):
        await overflow(held, attempt)
    await held.complete(SAID, 6)

    assert await seen(session) == [
        ("m1", "Fix the build."),
        ("m5", "Run it."),
        ("compaction_summary", summary()),
    ]


async def test_a_blank_summary_is_asked_for_again_and_never_installed(timed: Timed) -> None:
    session = await codex_talk(timed)
    before = await seen(session)
    held = await start(session)
    answers = [(await held.complete(" \n", attempt)).json() for attempt in (1, 2, 3)]

    assert answers[0]["rejected"] == {"reason": "the response had no text"}
    assert answers[0]["summary_request"] == held.answer["summary_request"]
    assert [answer["status"] for answer in answers] == ["pending", "pending", "failed"]
    assert await seen(session) == before


@pytest.mark.parametrize("fields", [{"finish_reason": "length"}, {"tool_calls": 2}])
async def test_any_text_is_a_summary(timed: Timed, fields: Json) -> None:
    session = await codex_talk(timed)
    held = await start(session)
    answer = succeeded(await held.complete(" Half of\n", **fields))

    assert answer["checkpoint"]["summary"] == " Half of\n"
    assert (await seen(session))[-1][1] == summary(" Half of\n")


async def test_a_request_fits_the_model_before_it_is_sent(timed: Timed) -> None:
    profile = {"name": "model-a", "context_window": 4_000, "max_output_tokens": 1_000}
    session = await codex_session(timed, model_profile=profile)
    for number in range(20):
        await session.append(user(f"{number} {'x' * 800}"), assistant(f"Answer {number}."))
    held = await start(session)
    request = held.answer["summary_request"]

    assert (len(roles(request)), texts(request)[0][:3]) == (26, "Ans")
    assert held.answer["source"]["message_count"] == 40


async def run_at(
    database_url: str, *behaviours: Behaviour
) -> tuple[Json, list[tuple[str, str]], int]:
    """How a run of the service ends, what the session shows then, and how often was asked."""
    async with misbehaving(*behaviours) as endpoint, running(database_url, endpoint) as api:
        session = await with_rounds(api)
        compaction = succeeded(await session.post("compactions", RUN))
        found = await ended(session, compaction["id"])
        prepared = await session.prepare(include=["provenance"])
        return found, shown(prepared), len(endpoint.received)


async def with_rounds(api: Api) -> SessionApi:
    session = await api.session("s", policy="codex")
    await session.append(user("Fix the build.", "m1"), calls("c1", message_id="m2"))
    await session.append(results("c1", message_id="m3"), assistant("Fixed.", "m4"))
    return session


@ON_SQLITE
async def test_the_service_runs_a_compaction_in_this_style(database_url: str) -> None:
    found, items, asked = await run_at(database_url, TOO_LONG, TOO_LONG, telling(SAID))

    assert (found["status"], found["attempt"], asked) == ("completed", 3, 3)
    assert items == [("m1", "Fix the build."), ("compaction_summary", summary())]


@ON_SQLITE
async def test_a_run_ends_where_no_smaller_request_is_left(database_url: str) -> None:
    found, items, asked = await run_at(database_url, TOO_LONG)

    assert (found["status"], found["code"], asked) == ("failed", "cannot_fit", 4)
    assert [name for name, _ in items] == ["m1", "m2", "m3", "m4"]
