"""Answers that their output limit cut off are continued in their step."""

from http import HTTPStatus
from typing import Any

import pytest

from app.policies.continuation import CONTINUATION_TEXT
from tests.api.client import Json, SessionApi, assistant, calls, message, results, user
from tests.api.compacting import LINE, LONG, Timed, compact, put_turn, refusal, texts
from tests.api.reporting import post_usage, report, series, totals_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

POINT: Json = {"turn_id": "t", "model_call": 1}
CUT: Json = {"finish_reason": "max_tokens"}
END: Json = {"finish_reason": "end_turn"}


def policy(retries: int | None = 2) -> Json:
    return {"preset": "openwork", "max_continuation_retries": retries}


async def begun(timed: Timed, retries: int | None = 2, **fields: Any) -> SessionApi:
    """A session with a request, whose policy continues answers so often."""
    session = await timed.session(policy=policy(retries), **fields)
    await session.append(user("Write it.", "m1", turn_id="t"))
    return session


def numbers(output_tokens: int = 20) -> Json:
    return {"model": "model-a", "input_tokens": 100, "output_tokens": output_tokens}


async def answered(session: SessionApi, answer: Json, point: Json = POINT, **fields: Any) -> Json:
    """The decision over an answer that comes with its report, after a prepare of its call."""
    prepared = await session.prepare(**point)
    usage = {**numbers(), **point, "prepared_id": prepared["prepared_id"], **fields}
    decision: Json = (await session.append(answer, usage=usage))["usage"]["decision"]
    return decision


def told(decision: Json) -> tuple[str, str]:
    return decision["action"], decision["reason"]


CONTINUE = ("continue", "output_cut_off")
EXHAUSTED = ("blocked", "max_tokens_exhausted")
SUBMIT = ("submit", "under_line")


def continuation(n: int, turn_id: str = "t", model_call: int = 1) -> Json:
    """The message that asks for the rest."""
    message_id = f"{turn_id}-continuation-{model_call}-{n}"
    return user(CONTINUATION_TEXT, message_id, turn_id=turn_id)


async def test_CT1_a_cut_answer_is_continued_behind_two_messages(timed: Timed) -> None:
    session = await begun(timed)
    first = await answered(session, assistant("a"), **CUT)
    await session.append(first["append"])
    second = await session.prepare(**POINT)
    usage = {**numbers(), **POINT, "prepared_id": second["prepared_id"], **END}
    last = await session.append(assistant("b"), usage=usage)

    assert (told(first), first["append"]) == (CONTINUE, continuation(0))
    assert texts(second["request"]) == ["Write it.", "a", CONTINUATION_TEXT]
    assert told(last["usage"]["decision"]) == SUBMIT
    assert last["usage"]["decision"]["append"] is None
    assert [entry["role"] for entry in await session.messages()] == [
        *("user", "assistant", "user", "assistant"),
    ]


async def test_CT3_without_a_budget_a_cut_answer_ends_the_run(timed: Timed) -> None:
    decision = await answered(await begun(timed, 0), assistant("a"), **CUT)

    assert (told(decision), decision["append"]) == (EXHAUSTED, None)


async def test_CT4_calls_of_a_cut_answer_are_carried_out(timed: Timed) -> None:
    session = await begun(timed)

    assert told(await answered(session, calls("c1"), **CUT)) == SUBMIT
    await session.append(results("c1"))


@pytest.mark.parametrize("content", [[], [{"type": "text", "text": ""}]])
async def test_CT5_an_answer_of_nothing_is_not_continued(timed: Timed, content: object) -> None:
    session = await begun(timed)

    assert told(await answered(session, message("assistant", content), **CUT)) == EXHAUSTED


@pytest.mark.parametrize(
    "thinking",
    [
        {"type": "thinking", "thinking": "hm"},
        {
            "type": "thinking",
            "thinking": "",
            "provider_state": {"driver": "d", "model": "model-a", "data": {"s": "x"}},
        },
    ],
)
async def test_reasoning_alone_is_continued(timed: Timed, thinking: Json) -> None:
    session = await begun(timed)

    assert told(await answered(session, message("assistant", [thinking]), **CUT)) == CONTINUE


async def test_CT7_behind_a_partial_answer_no_other_model_takes_over(timed: Timed) -> None:
    decision = await answered(await begun(timed), assistant("a"), **CUT)

    assert decision["detail"] == (
        "the answer was cut off by its output limit: continuation 1 of 2 of its step;"
        " after an error no other model may take the step over"
    )


async def cut_often(session: SessionApi, times: int, point: Json = POINT) -> list[Json]:
    """The decisions over so many cut answers, each continued as it was told."""
    decisions = []
    for number in range(times):
        decisions.append(await answered(session, assistant(f"part {number}"), point, **CUT))
        if decisions[-1]["append"] is not None:
            await session.append(decisions[-1]["append"])
    return decisions


async def test_CT8_a_step_of_three_continuations_ends_naturally(timed: Timed) -> None:
    session = await begun(timed, 3)
    decisions = await cut_often(session, 3)
    end = await answered(session, assistant("end"), **END)

    assert [each["append"] for each in decisions] == [continuation(n) for n in range(3)]
    assert told(end) == SUBMIT
    assert len(await series(session)) == 4


async def test_a_spent_budget_ends_the_run(timed: Timed) -> None:
    decisions = await cut_often(await begun(timed), 3)

    assert [*map(told, decisions)] == [CONTINUE, CONTINUE, EXHAUSTED]


async def test_the_next_step_has_a_budget_of_its_own(timed: Timed) -> None:
    session = await begun(timed, 1)
    await cut_often(session, 1)
    second = await answered(session, assistant("more"), {**POINT, "model_call": 2}, **CUT)

    assert (told(second), second["append"]) == (CONTINUE, continuation(0, model_call=2))


async def test_a_whole_answer_in_between_begins_the_count_anew(timed: Timed) -> None:
    session = await timed.session(policy=policy(1))
    await session.append(user("Write it."))
    reasons = ["length", "stop", "MAX_TOKENS", "max_output_tokens"]
    decisions = [
        await answered(session, assistant("a"), {}, finish_reason=reason) for reason in reasons
    ]

    assert [*map(told, decisions)] == [CONTINUE, SUBMIT, CONTINUE, EXHAUSTED]


async def test_without_turn_and_call_the_message_has_no_id_and_the_store_makes_one(
    timed: Timed,
) -> None:
    session = await begun(timed)
    decisions = await cut_often(session, 3, {})

    assert [each["append"] for each in decisions] == [*[user(CONTINUATION_TEXT)] * 2, None]
    assert len(await session.messages()) == 6


@pytest.mark.parametrize("turn_id", ["prep-1", "t" * 120])
async def test_what_can_be_no_id_of_a_message_is_left_out(timed: Timed, turn_id: str) -> None:
    session = await begun(timed)
    decision = await answered(session, assistant("a"), {"turn_id": turn_id, "model_call": 1}, **CUT)
    await session.append(decision["append"])

    assert decision["append"] == user(CONTINUATION_TEXT, turn_id=turn_id)


async def test_an_id_that_a_message_has_already_is_left_out(timed: Timed) -> None:
    session = await begun(timed)
    await session.append(continuation(0))

    assert "id" not in (await answered(session, assistant("a"), **CUT))["append"]


async def test_a_repeat_gets_its_answer_and_counts_once(timed: Timed) -> None:
    session = await begun(timed)
    prepared = await session.prepare(**POINT)
    usage = {**numbers(), **POINT, **CUT, "prepared_id": prepared["prepared_id"]}
    batch = assistant("a", "m2")
    first = await session.append(batch, usage=usage)
    again = await session.append(batch, usage=usage)
    alone = await report(session, **usage)
    rest = await cut_often(session, 2)

    assert first["usage"] == again["usage"]
    assert alone["decision"] == first["usage"]["decision"]
    assert [*map(told, rest)] == [CONTINUE, EXHAUSTED]
    assert (await totals_of(session))["reports"] == 3


async def test_calls_of_a_step_without_prepared_ids_are_told_apart_by_what_they_took(
    timed: Timed,
) -> None:
    session = await begun(timed)
    decisions = []
    for number in range(3):
        usage = {**numbers(), **POINT, **CUT, "input_tokens": 100 + number}
        batch = [assistant("a", f"m-{number}")]
        answer = await session.append(*batch, usage=usage)
        again = await session.append(*batch, usage=usage)
        decisions.append(answer["usage"]["decision"])

        assert again["usage"] == answer["usage"]
        if decisions[-1]["append"] is not None:
            await session.append(decisions[-1]["append"])
    late = await report(session, **{**numbers(), **POINT, **CUT})

    assert [each["append"] for each in decisions] == [continuation(0), continuation(1), None]
    assert late["decision"] == decisions[0]
    assert (await totals_of(session))["reports"] == 3


async def test_nor_does_the_budget_depend_on_numbers(timed: Timed) -> None:
    session = await begun(timed)
    decisions = []
    for number in range(3):
        usage = {"model": "model-a", **POINT, **CUT}
        batch = [assistant("a", f"m-{number}")]
        answer = await session.append(*batch, usage=usage)

        assert (await session.append(*batch, usage=usage))["usage"] == answer["usage"]
        decisions.append(answer["usage"]["decision"])
        await session.append(*filter(None, [decisions[-1]["append"]]), user("x"))

    assert [*map(told, decisions)] == [CONTINUE, CONTINUE, EXHAUSTED]


async def test_other_numbers_before_anything_was_appended_are_a_conflict(timed: Timed) -> None:
    session = await begun(timed)
    await session.append(assistant("a"), usage={**numbers(), **POINT, **CUT})
    refused = await post_usage(session, **{**numbers(21), **POINT, **CUT})

    assert refusal(refused) == (HTTPStatus.CONFLICT, "usage_conflict")


async def test_a_late_report_continues_nothing_and_leaves_the_count(timed: Timed) -> None:
    session = await begun(timed, 1)
    first = await session.prepare(**POINT)
    await session.append(assistant("old"))
    point = {**POINT, "model_call": 2}
    await session.append(user("More."))
    decision = await answered(session, assistant("a"), point, **CUT)
    named = {**POINT, "prepared_id": first["prepared_id"]}
    late = await report(session, **numbers(), **named, **CUT, has_text=True, has_tool_calls=False)
    await session.append(decision["append"])

    assert told(late["decision"]) == SUBMIT
    assert told(await answered(session, assistant("b"), point, **CUT)) == EXHAUSTED


async def test_a_report_from_before_a_compaction_continues_nothing(timed: Timed) -> None:
    session = await begun(timed)
    prepared = await session.prepare(**POINT)
    await session.append(assistant("a"))
    await compact(session)
    named = {**POINT, "prepared_id": prepared["prepared_id"]}

    assert told((await report(session, **numbers(), **named, **CUT))["decision"]) == SUBMIT


UNSTORED: list[tuple[str, Json, tuple[str, str]]] = [
    ("text", {"has_text": True, "has_tool_calls": False}, CONTINUE),
    ("no text", {"has_text": False, "has_tool_calls": False}, EXHAUSTED),
    ("calls", {"has_tool_calls": True}, SUBMIT),
    ("text, and calls are not said", {"has_text": True}, SUBMIT),
    ("no calls, and text is not said", {"has_tool_calls": False}, SUBMIT),
    ("nothing is said", {}, SUBMIT),
]


@pytest.mark.parametrize(
    ("fields", "expected"), [case[1:] for case in UNSTORED], ids=[case[0] for case in UNSTORED]
)
async def test_a_report_may_say_what_is_not_stored_yet(
    timed: Timed, fields: Json, expected: tuple[str, str]
) -> None:
    session = await begun(timed)
    prepared = await session.prepare(**POINT)
    named = {**POINT, "prepared_id": prepared["prepared_id"]}
    decision = (await report(session, **numbers(), **named, **CUT, **fields))["decision"]
    is_known = expected != SUBMIT or fields.get("has_tool_calls") is True

    assert told(decision) == expected
    assert decision["detail"].endswith("and nothing tells what it holds") is not is_known


async def test_what_a_report_says_goes_before_what_is_stored(timed: Timed) -> None:
    session = await begun(timed)

    assert told(await answered(session, assistant("a"), **CUT, has_tool_calls=True)) == SUBMIT


async def test_raw_usage_is_continued_too(timed: Timed) -> None:
    session = await begun(timed)
    await session.append(assistant("a"))
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20}
    raw = {"format": "gemini.generate_content", "usage": usage}
    answer = await report(session, **POINT, raw=raw, finish_reason="MAX_TOKENS")

    assert told(answer["decision"]) == CONTINUE


@pytest.mark.parametrize("preset", ["openwork", "codex", "goose", "calibrated"])
async def test_a_policy_without_the_mechanism_never_looks(timed: Timed, preset: str) -> None:
    session = await timed.session(policy=preset)
    await session.append(user("Write it."))
    decision = await answered(session, assistant("a"), **CUT)

    assert (told(decision), decision["append"]) == (SUBMIT, None)
    assert "cut off" not in decision["detail"]


async def test_a_policy_that_is_patched_counts_from_then_on(timed: Timed) -> None:
    session = await begun(timed, None)
    path = f"/v1/sessions/{session.id}"
    await session.client.patch(path, json={"policy": policy(1)})

    assert told(await answered(session, assistant("a"), **CUT)) == CONTINUE


@pytest.mark.parametrize("value", [-1, 101, 1.0, "2", True])
async def test_a_budget_out_of_its_bounds_is_refused(timed: Timed, value: object) -> None:
    body = {"model": "m", "agent": {"system_prompt": "x"}}
    given = {"preset": "openwork", "max_continuation_retries": value}
    response = await timed.api.client.post("/v1/sessions", json={**body, "policy": given})

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "unknown_policy_override")


async def test_over_the_line_a_step_is_continued_and_its_next_prepare_compacts(
    timed: Timed,
) -> None:
    session = await begun(timed, model_profile=LINE)
    await put_turn(session)
    await session.append(user(LONG, turn_id="t"))
    await session.append(assistant("a", turn_id="t"))
    decision = (await report(session, **numbers(), **POINT, **CUT))["decision"]
    await session.append(decision["append"])
    prepared = await session.prepare(**POINT)

    assert (told(decision), decision["roll_over"]) == (CONTINUE, True)
    assert prepared["decision"]["action"] == "compact"


async def test_preset_awaken_continues_a_step_twice(timed: Timed) -> None:
    session = await timed.session(policy="awaken")
    await session.append(user("Write it.", turn_id="t"))

    assert [*map(told, await cut_often(session, 3))] == [CONTINUE, CONTINUE, EXHAUSTED]
