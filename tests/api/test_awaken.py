"""The Awaken way over HTTP: folds by number and by texts, once in every turn, and what is shown."""

from typing import Any

import pytest

from app.compaction.artifact import COMPACTOR_INSTRUCTIONS, SUMMARY_TASK
from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    succeeded,
    text_block,
    user,
)
from tests.api.compacting import Timed, compact, put_turn, reasons, refusal, run_turn, start, texts
from tests.api.reporting import report
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

INTRODUCTION = "Summary of earlier conversation: "
BY_COUNT: Json = {"threshold": 4, "keep_last": 2, "prefetch_ratio": 0.99}


async def awaken(timed: Timed, settings: Json = BY_COUNT, **policy: Any) -> SessionApi:
    return await timed.session(policy={"preset": "awaken", "compact": settings, **policy})


async def talked(timed: Timed, count: int, settings: Json = BY_COUNT, **policy: Any) -> SessionApi:
    """A session of so many messages, `message 0` and so on."""
    session = await awaken(timed, settings, **policy)
    for number in range(count):
        said = user if number % 2 == 0 else assistant
        await session.append(said(f"message {number}", f"m{number}"))
    return session


async def decision(session: SessionApi, **body: Any) -> Json:
    made: Json = (await session.prepare(**body))["decision"]
    return made


def point(model_call: int, turn_id: str = "t") -> Json:
    return {"turn_id": turn_id, "model_call": model_call}


@pytest.mark.parametrize(
    ("count", "settings", "fold_to"),
    [
        pytest.param(4, BY_COUNT, None, id="FP1"),
        pytest.param(5, BY_COUNT, 3, id="FP2"),
        pytest.param(5, {"threshold": 1, "keep_last": 5}, None, id="FP4"),
        pytest.param(5, {"threshold": 4, "keep_last": 0}, 5, id="FP5"),
        pytest.param(10, {"max_tokens": 10, "threshold": 9_999, "keep_last": 2}, 8, id="FP17"),
        pytest.param(10, {"max_tokens": 1_000_000}, None, id="H19"),
    ],
)
async def test_the_oldest_messages_are_folded_once_there_are_enough(
    timed: Timed, count: int, settings: Json, fold_to: int | None
) -> None:
    session = await talked(timed, count, settings)
    made = await decision(session)

    assert made["action"] == ("submit" if fold_to is None else "compact")
    if fold_to is not None:
        assert (await start(session)).answer["source"]["message_count"] == fold_to


@requirement("AW-compact-agent-and-instructions")
async def test_the_compactor_has_its_own_instructions_and_each_task_its_prompt(
    timed: Timed,
) -> None:
    settings = {**BY_COUNT, "instructions": "Keep paths.", "agent_instructions": "Be brief."}
    built_in, own = await talked(timed, 5), await talked(timed, 5, settings)
    requests = [(await start(session)).answer["summary_request"] for session in (built_in, own)]
    told = [[request["messages"][0], request["messages"][-1]] for request in requests]

    assert [[entry["content"][0]["text"] for entry in both] for both in told] == [
        [COMPACTOR_INSTRUCTIONS, SUMMARY_TASK],
        ["Be brief.", "Keep paths."],
    ]
    assert texts(requests[0])[:-1] == ["message 0", "message 1", "message 2"]


@requirement(
    "AW-dynamic-view-after-a-fold",
    "AW-verify-summary-in-the-request",
    "AW-verify-thread-unchanged",
    "AW-state-is-request-only",
)
async def test_H1_H20_a_summary_stands_in_front_of_the_newest_and_nothing_stored_changes(
    timed: Timed,
) -> None:
    session = await talked(timed, 10)
    before = await session.messages()
    await compact(session, " They greet. ")
    after = await session.messages()

    assert texts((await session.prepare())["request"]) == [
        f"{INTRODUCTION} They greet. ",
        *("message 8", "message 9"),
    ]
    assert [{**kept, "covered_by": None} for kept in after] == before


async def test_H21_a_cut_inside_a_round_moves_to_its_left_unless_it_is_strict(timed: Timed) -> None:
    shown = []
    for strict_cut in (False, True):
        session = await awaken(timed, strict_cut=strict_cut)
        await session.append(user("u"), assistant("a"), user("v"), calls("c1"), results("c1"))
        await session.append(assistant("done"))
        await compact(session, "S")
        request = (await session.prepare())["request"]
        shown.append([entry["role"] for entry in request["messages"][1:]])

    assert shown == [["user", "assistant", "tool", "assistant"], ["user", "assistant"]]


@requirement("AW-dynamic-once-per-run")
async def test_H9_H13_a_turn_decides_at_its_first_call_and_the_next_one_anew(timed: Timed) -> None:
    session = await talked(timed, 4)
    await run_turn(session)
    first = await decision(session, **point(1))
    await session.append(assistant("more"), user("and more"))
    later = [await decision(session, **point(2)) for _ in range(2)]
    again = await decision(session, **point(1))
    await put_turn(session, "t", "completed")
    await run_turn(session, "t2")

    assert (first["action"], first["reason"]) == ("submit", "under_line")
    assert {(made["action"], made["reason"]) for made in later} == {("submit", "already_compacted")}
    assert again["action"] == "compact"
    assert (await decision(session, **point(1, "t2")))["action"] == "compact"


@requirement("AW-dynamic-resume-replays", "AW-verify-restart-reuses")
async def test_H11_H12_a_later_step_shows_the_fold_again_and_asks_nobody(timed: Timed) -> None:
    session = await talked(timed, 10)
    await run_turn(session)
    asked = await decision(session, **point(1))
    await compact(session, "S", kind="threshold", **point(1))
    shown = [texts((await session.prepare(**point(call)))["request"]) for call in (1, 2)]
    for number in range(10, 20):
        await session.append(assistant(f"message {number}"))
    late = await session.prepare(**point(3))

    assert asked["action"] == "compact"
    assert shown == [[f"{INTRODUCTION}S", "message 8", "message 9"]] * 2
    assert (late["decision"]["action"], late["decision"]["reason"]) == (
        *("submit", "already_compacted"),
    )
    assert len(texts(late["request"])) == 13


async def test_a_prepare_without_a_turn_always_decides(timed: Timed) -> None:
    session = await talked(timed, 4)
    await decision(session)
    await session.append(assistant("more"), user("and more"))

    assert (await decision(session))["action"] == "compact"


async def test_a_report_announces_no_fold_within_a_turn_that_has_decided(timed: Timed) -> None:
    session = await talked(timed, 10)
    told = await report(session, **point(1), input_tokens=10, output_tokens=1, needs_follow_up=True)

    assert told["decision"]["roll_over"] is False
    assert told["decision"]["reason"] == "already_compacted"


@pytest.mark.parametrize("window", [200_000, 40])
async def test_H7_a_failure_never_stops_the_call(timed: Timed, window: int) -> None:
    profile = {"name": "model-a", "context_window": window}
    session = await awaken(timed)
    await session.client.patch(f"/v1/sessions/{session.id}", json={"model_profile": profile})
    await session.append(*(user(f"message {number}") for number in range(10)))
    await run_turn(session)
    await decision(session, **point(1))
    held = await start(session, kind="threshold", **point(1))
    answers = [succeeded(await held.complete(" \n\t", attempt)) for attempt in (1, 2, 3)]
    after = await session.prepare(**point(1))

    assert [answer["status"] for answer in answers] == ["pending", "pending", "failed"]
    assert (after["decision"]["action"], after["decision"]["reason"]) == (
        *("submit", "compaction_failed"),
    )
    assert len(texts(after["request"])) == 10


async def test_a_summary_over_its_share_is_asked_for_again_and_cut_at_last(timed: Timed) -> None:
    profile = {"name": "model-a", "context_window": 1_000}
    session = await timed.session(
        policy={"preset": "awaken", "compact": BY_COUNT}, model_profile=profile
    )
    await session.append(*(user(f"message {number}") for number in range(10)))
    held = await start(session)
    answers = [succeeded(await held.complete("x" * 2_000, attempt)) for attempt in (1, 2, 3)]

    assert answers[0]["rejected"]["reason"] == (
        "summary took 500 tokens, more than its share of 200"
    )
    assert answers[2]["status"] == "completed"
    assert len(answers[2]["checkpoint"]["summary"]) <= 800


@requirement("AW-two-independent-controls", "AW-committed-messages-stay")
async def test_trimming_shows_the_newest_and_folding_counts_all(timed: Timed) -> None:
    session = await talked(timed, 10, context_policy={"keep_last": 1})
    prepared = await session.prepare(include=["provenance"])

    assert prepared["decision"]["action"] == "compact"
    assert reasons(prepared) == ["m9"]
    await compact(session, "S")
    assert reasons(await session.prepare(include=["provenance"])) == ["compaction_summary", "m9"]


async def test_pinned_messages_stay_in_every_request(timed: Timed) -> None:
    trimming = {"keep_last": 1, "pinned": ["m2"]}
    session = await talked(timed, 4, context_policy=trimming)

    assert reasons(await session.prepare(include=["provenance"])) == ["m2", "m3"]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        pytest.param({"threshold": 0}, "compact.threshold", id="CF3"),
        pytest.param({"trigger_ratio": 1.0001}, "compact.trigger_ratio", id="CF5"),
        pytest.param({"agent_id": " "}, "compact.agent_id", id="CF11"),
        pytest.param({"unknown": 1}, "compact.unknown", id="CF15"),
        pytest.param({"max_tokens": 2**32}, "compact.max_tokens", id="CF16"),
    ],
)
async def test_settings_that_cannot_be_are_refused_by_their_name(
    timed: Timed, settings: Json, key: str
) -> None:
    body = {"id": "s-bad", "model": "m", "agent": {"system_prompt": "p"}}
    policy = {"preset": "awaken", "compact": settings}
    response = await timed.api.client.post("/v1/sessions", json={**body, "policy": policy})

    assert refusal(response) == (422, "unknown_policy_override")
    assert response.json()["key"] == key


async def test_E4_texts_count_by_their_bytes_and_tools_not_at_all(timed: Timed) -> None:
    session = await awaken(timed, {"max_tokens": 1_000})
    await session.append(user("你好世界"), calls("c1"), results("c1"))
    await session.append(message("assistant", [text_block("abc"), text_block("d")]))

    assert (await decision(session))["measured_tokens"] == 4
