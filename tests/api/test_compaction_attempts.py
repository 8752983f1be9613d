"""Attempts over HTTP: rejected, failed, repeated, and where they end."""

import json
from http import HTTPStatus

import httpx
import pytest

from tests.api.client import Json, SessionApi, assistant, calls, message, tool_result, user
from tests.api.compacting import (
    Timed,
    compact,
    refusal,
    request_compaction,
    start,
    summary_of,
    texts,
)
from tests.unit.compaction.summaries import SUMMARY, rooted, sections

pytestmark = pytest.mark.asyncio(loop_scope="module")

NO_ROOT = "missing conversation_summary root"


def sizes(*requests: Json) -> list[int]:
    return [len(json.dumps(request)) for request in requests]


async def with_long_results(timed: Timed) -> SessionApi:
    """A session whose tool results are most of it."""
    session = await timed.session()
    await session.append(user("Read it all."))
    for number in range(6):
        result = tool_result(f"c{number}", f"line {number}\n" * 3_000)
        await session.append(calls(f"c{number}"), message("tool", [result]))
    await session.append(assistant("Read."))
    return session


async def test_K13_an_unusable_summary_is_asked_for_again(talk: SessionApi) -> None:
    held = await start(talk)
    rejected = (await held.complete("I did it.")).json()
    accepted = (await held.complete(attempt=2)).json()

    assert rejected == {
        "status": "pending",
        "rejected": {"reason": NO_ROOT},
        "attempt": 2,
        "attempts_left": 2,
        "summary_request": held.answer["summary_request"],
    }
    assert accepted["status"] == "completed"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"finish_reason": "length"}, "finish reason was length"),
        ({"finish_reason": "whatever"}, "finish reason was whatever"),
        ({"tool_calls": 1}, "the response requested a tool call"),
        ({"tool_calls": [{"id": "c1"}]}, "the response requested a tool call"),
        ({"summary": rooted(*sections(lines=("x",)))}, "summary was shorter than 500 characters"),
        (
            {"summary": rooted(*sections(lines=("None",) * 20))},
            "summary had nothing but None in every section",
        ),
    ],
    ids=["K7 length", "K7 unknown", "tool calls", "listed tool calls", "K7 short", "nothing said"],
)
async def test_a_rejection_says_what_was_wrong(talk: SessionApi, said: Json, reason: str) -> None:
    held = await start(talk)
    answer = (await held.complete(**{"summary": SUMMARY, **said})).json()

    assert answer["rejected"] == {"reason": reason}


async def test_the_third_rejection_ends_the_compaction(talk: SessionApi) -> None:
    held = await start(talk)
    answers = [(await held.complete(f"no {n}", n)).json() for n in (1, 2, 3)]
    after = await held.read()

    assert [answer["status"] for answer in answers] == ["pending", "pending", "failed"]
    assert answers[2] == {
        "status": "failed",
        "code": "summary_retries_exhausted",
        "detail": f"compaction summary failed after 3 attempts: {NO_ROOT}",
        "attempt": 3,
    }
    assert (after["status"], after["code"]) == ("failed", "summary_retries_exhausted")
    assert after["checkpoint"] is None


@pytest.mark.parametrize("error", ["timeout", "transient", "deterministic"])
async def test_a_failure_asks_with_the_same_request_again(talk: SessionApi, error: str) -> None:
    held = await start(talk)
    answers = [(await held.fail(error, n, detail="it broke")).json() for n in (1, 2, 3)]

    assert answers[0] == {
        "status": "pending",
        "rejected": {"reason": "it broke"},
        "attempt": 2,
        "attempts_left": 2,
        "summary_request": held.answer["summary_request"],
    }
    assert answers[1]["summary_request"] == held.answer["summary_request"]
    assert (answers[2]["status"], answers[2]["code"]) == ("failed", "summary_retries_exhausted")
    assert answers[2]["detail"].endswith("it broke")


async def test_an_overflow_asks_with_a_smaller_request_each_time(timed: Timed) -> None:
    held = await start(await with_long_results(timed))
    second = (await held.fail("context_overflow", 1)).json()
    third = (await held.fail("context_overflow", 2)).json()
    last = (await held.fail("context_overflow", 3)).json()
    requests = held.answer["summary_request"], second["summary_request"], third["summary_request"]
    first_size, second_size, third_size = sizes(*requests)

    assert second_size <= first_size * 0.75
    assert third_size <= second_size * 0.75
    assert all("Read it all." in "".join(texts(request)) for request in requests[:2])
    assert (last["status"], last["code"]) == ("failed", "summary_retries_exhausted")


async def test_a_rejection_after_an_overflow_keeps_the_smaller_request(timed: Timed) -> None:
    held = await start(await with_long_results(timed))
    smaller = (await held.fail("context_overflow", 1)).json()["summary_request"]
    rejected = (await held.complete("no", 2)).json()

    assert rejected["summary_request"] == smaller
    assert (await held.complete(SUMMARY, 3)).json()["status"] == "completed"


async def test_an_overflow_of_the_smallest_request_ends_the_compaction(talk: SessionApi) -> None:
    held = await start(talk)
    answer = (await held.fail("context_overflow")).json()
    after = await held.read()

    assert (answer["status"], answer["code"]) == ("failed", "cannot_fit")
    assert (after["status"], after["code"], after["attempt"]) == ("failed", "cannot_fit", 1)


async def test_usage_of_the_accepted_attempt_is_in_the_receipt(talk: SessionApi) -> None:
    held = await start(talk)
    await held.complete("no", usage={"input_tokens": 1})
    usage = {"input_tokens": 900, "output_tokens": 40}
    answer = (await held.complete(attempt=2, usage=usage)).json()

    assert answer["tokens"]["usage"] == usage
    assert (await held.read())["tokens"] == answer["tokens"]


async def test_every_report_that_is_repeated_gets_its_answer_to_the_byte(timed: Timed) -> None:
    session = await with_long_results(timed)
    held = await start(session)
    reports: list[tuple[str, Json]] = [
        ("complete", {"summary": "no", "finish_reason": "stop"}),
        ("fail", {"error": "context_overflow", "detail": None}),
        ("complete", {"summary": SUMMARY, "usage": {"output_tokens": 9}}),
    ]
    answers: list[httpx.Response] = []
    for attempt, (call, said) in enumerate(reports, start=1):
        body = {"claim": held.token, "attempt": attempt, **said}
        answers.append(await session.post(f"compactions/{held.id}/{call}", body))
        again = await session.post(f"compactions/{held.id}/{call}", body)

        assert (again.status_code, again.content) == (HTTPStatus.OK, answers[-1].content)
    await session.append(user("Go on."))
    await compact(session, summary_of("more"))
    for attempt, (call, said) in enumerate(reports, start=1):
        body = {"claim": held.token, "attempt": attempt, **said}
        late = await session.post(f"compactions/{held.id}/{call}", body)

        assert late.content == answers[attempt - 1].content
    assert (await held.read())["attempt"] == 3


async def test_a_repeat_of_the_last_failure_gets_its_answer(talk: SessionApi) -> None:
    held = await start(talk)
    for attempt in (1, 2, 3):
        answer = await held.fail("timeout", attempt)
    again = await held.fail("timeout", 3)
    other = await held.fail("transient", 3)

    assert again.content == answer.content
    assert refusal(other) == (HTTPStatus.CONFLICT, "compaction_closed")
    assert other.json()["compaction_status"] == "failed"


async def test_another_report_on_an_attempt_that_was_answered_is_refused(
    talk: SessionApi,
) -> None:
    held = await start(talk)
    await held.complete("no")
    refused = [await held.complete("not this either"), await held.fail("timeout")]

    assert [refusal(response) for response in refused] == [(HTTPStatus.CONFLICT, "claim_lost")] * 2
    assert (await held.read())["attempt"] == 2


async def test_a_usable_summary_of_an_earlier_attempt_is_not_thrown_away(
    talk: SessionApi,
) -> None:
    held = await start(talk)
    await held.fail("timeout")
    late = await held.complete(attempt=1)

    assert late.json()["status"] == "completed"


async def test_a_report_of_nonsense_burns_no_attempt(talk: SessionApi) -> None:
    held = await start(talk)
    path = f"compactions/{held.id}"
    said = {"claim": held.token, "attempt": 1}
    bodies = [
        ("complete", {}),
        ("complete", {**said, "summary": 7}),
        ("complete", {**said, "summary": SUMMARY, "other": 1}),
        ("fail", {**said, "error": "bad_luck"}),
        ("fail", {**said, "error": "timeout", "attempt": 0}),
    ]
    responses = [await talk.post(f"{path}/{call}", body) for call, body in bodies]

    assert {response.status_code for response in responses} == {HTTPStatus.UNPROCESSABLE_ENTITY}
    assert (await held.complete()).json()["status"] == "completed"


@pytest.mark.parametrize("style", ["cached", "flat"])
async def test_a_style_is_kept_over_the_attempts(talk: SessionApi, style: str) -> None:
    held = await start(talk, summary_request_style=style)
    rejected = (await held.complete("no")).json()
    again = (await request_compaction(talk)).json()

    assert held.answer["style"] == again["style"] == style
    assert rejected["summary_request"] == held.answer["summary_request"]
