"""The goose way over HTTP: its line, its ladder, its summary, and what the agent sees after it."""

from typing import Any

import pytest

from app.compaction.hidden_history import CONTINUATIONS
from app.compaction.structured_prompt import SUMMARISE
from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    succeeded,
    tool_call,
    user,
)
from tests.api.compacting import Timed, compact, reasons, refusal, run_turn, start, texts
from tests.api.reporting import report
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

SMALL: Json = {"name": "model-a", "context_window": 1_000}
ANSWER = 'Notes.\n```json\n{"user_intent": ["Fix the build"], "next_step": 7}\n```'
TOLD = "# Conversation Summary\n\n## User Intent\n- Fix the build\n\n## Next Step\n7"


async def goose(timed: Timed, window: int = 1_000, **policy: Any) -> SessionApi:
    profile = {**SMALL, "context_window": window}
    chosen = {"preset": "goose", **policy}
    return await timed.session(policy=chosen, model_profile=profile)


async def rounds(session: SessionApi, count: int) -> None:
    """A request and so many calls with their results."""
    await session.append(user("go", "m0"))
    for number in range(count):
        await session.append(
            calls(f"c{number}", message_id=f"a{number}"),
            results(f"c{number}", message_id=f"r{number}"),
        )


@pytest.mark.parametrize(
    ("total", "threshold", "action"),
    [
        pytest.param(800, {}, "submit", id="T1"),
        pytest.param(801, {}, "compact", id="T2"),
        pytest.param(999_999, {"threshold": 0}, "submit", id="T5"),
        pytest.param(995, {"threshold": 0.99}, "compact", id="T9"),
        pytest.param(301, {"threshold": 0.3}, "compact", id="T15"),
        pytest.param(0, {}, "submit", id="T13"),
    ],
)
async def test_the_latest_total_decides(
    timed: Timed, total: int, threshold: Json, action: str
) -> None:
    session = await goose(timed, **threshold)
    await session.append(user("hello " * 2_000), assistant("a"))
    await report(session, turn_id="t", model_call=1, input_tokens=total, output_tokens=0)
    await session.append(user("go on"))
    decision = (await session.prepare())["decision"]

    assert (decision["action"], decision["measured_tokens"]) == (action, total)


async def test_T11_without_a_report_the_messages_are_counted(timed: Timed) -> None:
    session = await goose(timed, 10, threshold=0.7)
    await session.append(user("hello"))
    prepared = await session.prepare()

    assert prepared["decision"]["action"] == "compact"
    assert prepared["decision"]["measured_tokens"] == 8
    assert prepared["limits"]["compact_at_input_tokens"] == 8


async def test_the_conversation_stands_in_the_prompt_of_the_summary_request(timed: Timed) -> None:
    session = await goose(timed)
    await rounds(session, 1)
    request = (await start(session)).answer["summary_request"]

    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert texts(request) == [SUMMARISE]
    assert (
        "[user]: go\n[assistant]: tool_request(read): {}\n[user]: tool_response: done"
        in (request["messages"][0]["content"][0]["text"])
    )
    assert request["tools"] == []


@requirement("GO-7.2-removal-ladder")
async def test_L4_each_overflow_leaves_out_more_results(timed: Timed) -> None:
    session = await goose(timed)
    await rounds(session, 10)
    held = await start(session)
    kept = []
    for attempt in range(1, 4):
        request = succeeded(await held.fail("context_overflow", attempt))["summary_request"]
        kept.append(request["messages"][0]["content"][0]["text"].count("tool_response"))
    answer = succeeded(await held.complete(ANSWER, 4))

    assert kept == [9, 8, 5]
    assert answer["status"] == "completed"


async def test_five_overflows_end_the_ladder(timed: Timed) -> None:
    session = await goose(timed)
    await rounds(session, 2)
    held = await start(session)
    answers = [succeeded(await held.fail("context_overflow", attempt)) for attempt in range(1, 6)]

    assert [answer["status"] for answer in answers] == [*["pending"] * 4, "failed"]


async def test_L11_without_results_one_overflow_is_the_end(timed: Timed) -> None:
    session = await goose(timed)
    await session.append(user("go"), assistant("done"))
    held = await start(session)

    assert succeeded(await held.fail("context_overflow"))["code"] == "cannot_fit"


async def test_L12_any_other_failure_ends_a_compaction_at_once(timed: Timed) -> None:
    session = await goose(timed)
    await rounds(session, 10)
    held = await start(session)

    assert succeeded(await held.fail("transient"))["status"] == "failed"
    assert (await session.prepare())["decision"]["action"] == "submit"


async def test_a_structured_answer_is_told_by_goose_s_headings(timed: Timed) -> None:
    session = await goose(timed)
    await session.append(user("Fix the build.", "m1"), assistant("Done.", "m2"))
    checkpoint = (await compact(session, ANSWER))["checkpoint"]

    assert checkpoint["summary"] == TOLD
    assert texts((await session.prepare())["request"]) == [TOLD]


async def test_a_template_of_the_session_tells_it_otherwise(timed: Timed) -> None:
    session = await goose(
        timed, summary_template="{{#user_intent}}Goals:\n{{user_intent}}{{/user_intent}}"
    )
    await session.append(user("Fix the build.", "m1"), assistant("Done.", "m2"))

    assert (await compact(session, ANSWER))["checkpoint"]["summary"] == "Goals:\n- Fix the build"


@requirement("GO-7.2-continuation-by-case", "GO-7.2-last-text-request-kept")
async def test_V1_V2_V3_what_the_agent_sees_after_a_compaction(timed: Timed) -> None:
    talked, looped, by_hand = [await goose(timed) for _ in range(3)]
    await talked.append(user("a", "m1"), assistant("b", "m2"), user("c", "m3"))
    await looped.append(
        user("a", "m1"), calls("c1", message_id="m2"), results("c1", message_id="m3")
    )
    await by_hand.append(user("a", "m1"), assistant("b", "m2"))
    for session, model_call in ((talked, 1), (looped, 2)):
        await run_turn(session)
        await compact(session, "S", kind="threshold", turn_id="t", model_call=model_call)
    await compact(by_hand, "S")
    await by_hand.append(user("d", "m4"))

    assert texts((await talked.prepare())["request"]) == ["S", CONTINUATIONS["conversation"], "c"]
    assert texts((await looped.prepare())["request"]) == ["S", CONTINUATIONS["tool_loop"], "a"]
    assert texts((await by_hand.prepare())["request"]) == ["S", CONTINUATIONS["by_hand"], "d"]
    assert reasons(await talked.prepare(include=["provenance"])) == [
        *("compaction_summary", "system_reminder", "last_user_request_replay")
    ]


async def test_the_agent_s_messages_are_hidden_and_people_see_them_as_before(timed: Timed) -> None:
    session = await goose(timed)
    await session.append(user("a", "m1"), assistant("b", "m2"))
    before = await session.messages()
    held = await compact(session, "S")
    after = await session.messages()

    assert {message["covered_by"] for message in after} == {held["checkpoint"]["id"]}
    assert [{**message, "covered_by": None} for message in after] == before


@requirement("GO-7.2-usage-after-compaction")
async def test_S1_after_a_compaction_the_context_is_what_is_left(timed: Timed) -> None:
    session = await goose(timed, 10_000, threshold=0.01)
    await session.append(user("a", "m1"), assistant("b", "m2"), user("c", "m3"))
    await report(session, turn_id="t", model_call=1, input_tokens=600, output_tokens=400)
    await compact(session, "S")
    await session.append(user("d", "m4"))
    decision = (await session.prepare())["decision"]

    # The summary of one token and the continuation of 48, each with 7 around it.
    assert decision["measured_tokens"] == 8 + 48 + 7
    assert decision["action"] == "submit"
    await report(session, turn_id="t", model_call=2, input_tokens=6_300, output_tokens=100)
    assert (await session.prepare())["decision"]["measured_tokens"] == 6_400


@pytest.mark.parametrize("fails", ["context_overflow", "deterministic"])
async def test_E4_an_overflow_whose_compaction_fails_stops_the_call(
    timed: Timed, fails: str
) -> None:
    session = await goose(timed)
    await session.append(user("a", "m1"), assistant("b", "m2"), user("c", "m3"))
    await run_turn(session)
    point: Json = {"turn_id": "t", "model_call": 1}
    sent = (await session.prepare(**point))["prepared_id"]
    overflow = {"prepared_id": sent, "error": "context_overflow", "delivery": "not_sent"}
    first = (await session.prepare(**point, recover_from=overflow))["decision"]
    held = await start(session, kind="overflow", **point)
    await held.fail(fails)
    second = (await session.prepare(**point, recover_from=overflow))["decision"]

    assert (first["action"], first["reason"]) == ("compact", "context_overflow")
    assert (second["action"], second["reason"]) == ("blocked", "compaction_failed")


@requirement("GO-7.2-threshold-override")
async def test_E2_E3_an_overflow_compacts_once_per_call_also_where_the_threshold_is_off(
    timed: Timed,
) -> None:
    session = await goose(timed, threshold=0)
    await session.append(user("a", "m1"), assistant("b", "m2"), user("c", "m3"))
    await run_turn(session)
    actions = []
    for model_call in (1, 2):
        point: Json = {"turn_id": "t", "model_call": model_call}
        for _ in range(2):
            sent = (await session.prepare(**point))["prepared_id"]
            overflow = {"prepared_id": sent, "error": "context_overflow", "delivery": "not_sent"}
            decision = (await session.prepare(**point, recover_from=overflow))["decision"]
            actions.append(decision["action"])
            if decision["action"] == "compact":
                held = await start(session, kind="overflow", **point)
                succeeded(await held.complete(f"S{model_call}"))
        await session.append(assistant(f"answer {model_call}"), user(f"more {model_call}"))

    assert actions == ["compact", "blocked", "compact", "blocked"]


async def test_a_value_that_goose_cannot_have_is_refused(timed: Timed) -> None:
    for value in ({"threshold": "0.8"}, {"threshold": True}, {"middle_out_order": "left"}):
        body = {"id": "s-bad", "model": "m", "agent": {"system_prompt": "p"}}
        response = await timed.api.client.post(
            "/v1/sessions", json={**body, "policy": {"preset": "goose", **value}}
        )

        assert refusal(response) == (422, "unknown_policy_override")


async def test_what_has_to_stay_outlives_the_fixing_of_the_ends(timed: Timed) -> None:
    session = await goose(timed, 100_000, context_policy={"keep_last": 2, "pinned": ["m2"]})
    await session.append(
        user("a", "m1"), assistant("b", "m2"), user("c", "m3"), assistant("d", "m4")
    )
    pinned = await session.prepare(append=[user("e", "m5")], include=["provenance"])
    waits = message("assistant", [tool_call("c1", state="pending")], "m6")
    waiting = await session.prepare(append=[waits], include=["provenance"])

    assert reasons(pinned) == ["m2", "m5"]
    assert reasons(waiting) == ["m2", "m5", "m6", "interrupted_tool_result"]
