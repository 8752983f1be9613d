"""Preset codex in a session: windows, limits and what usage leads to."""

import pytest

from tests.api.client import Json, SessionApi, assistant, calls, message, results, user
from tests.api.compacting import Timed, compact, run_turn, texts
from tests.api.reporting import report
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOW: Json = {"name": "model-a", "context_window": 10_000}
"""Line 9 000, hard limit 9 500."""


async def talk_of(timed: Timed, policy: object = "codex", **fields: object) -> SessionApi:
    """A session with one request and its answer, in which nothing was reported."""
    session = await timed.session(policy=policy, **{"model_profile": WINDOW, **fields})
    await session.append(user("Fix the build."))
    await session.prepare()
    await session.append(assistant("Fixed."))
    return session


async def used(session: SessionApi, total: int, **fields: object) -> Json:
    return await report(
        session, input_tokens=total - 10, output_tokens=10, total_tokens=total, **fields
    )


@pytest.mark.parametrize(
    ("total", "action", "reason"),
    [
        pytest.param(8_999, "submit", "under_line", id="V048 below the line"),
        pytest.param(9_000, "compact", "token_limit_reached", id="V049"),
        pytest.param(9_500, "compact", "hard_limit_reached", id="V050"),
    ],
)
@requirement("CX-12-the-chain-is-visible")
async def test_the_next_turn_compacts_at_the_line(
    timed: Timed, total: int, action: str, reason: str
) -> None:
    session = await talk_of(timed)
    told = await used(session, total)
    await session.append(user("x" * 60_000))
    prepared = await session.prepare()
    decision, limits = prepared["decision"], prepared["limits"]

    assert (decision["action"], decision["reason"]) == (action, reason)
    assert decision["phase"] == "pre_turn"
    assert prepared["budget"]["used_percent_raw"] == total / 100
    assert (limits["context_window"], limits["hard_limit_tokens"]) == (10_000, 9_500)
    assert limits["effective_input_tokens"] == 9_500
    assert limits["auto_compact_token_limit"] == 9_000
    assert set(limits["provenance"]) >= {
        "context_window",
        "effective_input_tokens",
        "auto_compact_token_limit",
    }
    assert told["status"]["prefill_source"] == "observed"
    assert told["status"]["scope_limit_tokens"] == 9_000


async def test_without_a_report_nothing_is_reached_and_the_estimate_is_shown(timed: Timed) -> None:
    session = await talk_of(timed)
    await session.append(user("y" * 60_000), assistant("z" * 60_000), user("go on"))
    prepared = await session.prepare()

    assert prepared["decision"]["action"] == "submit"
    assert prepared["decision"]["measured_tokens"] == 0
    assert prepared["budget"]["used_percent_raw"] > 100


@requirement("CX-8-decided-after-the-sample")
async def test_results_behind_an_answer_are_trailing_in_the_middle_of_a_turn(timed: Timed) -> None:
    session = await talk_of(timed)
    await run_turn(session, "t")
    await session.append(user("Again."), calls("c1"))
    before = await used(session, 8_990, turn_id="t", model_call=1)
    await session.append(results("c1"))
    after = await session.prepare(turn_id="t", model_call=2)

    assert before["status"]["active_context_tokens"] == 8_990
    assert (before["decision"]["roll_over"], before["decision"]["phase"]) == (False, "mid_turn")
    assert (after["decision"]["action"], after["decision"]["phase"]) == ("compact", "mid_turn")
    assert after["decision"]["measured_tokens"] > 9_000


@requirement("CX-8-ended-turn-waits")
async def test_an_ended_turn_over_every_limit_waits_for_the_next_one(timed: Timed) -> None:
    session = await talk_of(timed)
    told = await used(session, 9_600, needs_follow_up=False)
    await session.append(user("Next."))
    prepared = await session.prepare()

    assert told["status"]["token_limit_reached"]
    assert not told["decision"]["roll_over"]
    assert prepared["decision"]["reason"] == "hard_limit_reached"


@requirement("CX-8-reminder-gets-the-remaining")
async def test_a_window_is_reminded_once_and_the_next_one_again(timed: Timed) -> None:
    policy = {"preset": "codex", "reminder_threshold_tokens": 2_000}
    session = await talk_of(timed, policy)
    told = []
    for total in (6_999, 7_000, 7_100):
        told.append((await used(session, total, needs_follow_up=True))["decision"]["reminder"])
        await session.append(user("more"), assistant("done"))
    await compact(session)
    await session.append(user("more"), assistant("done"))
    again = await used(session, 8_000, needs_follow_up=True)

    assert [text is not None for text in told] == [False, True, False]
    assert "only 2000 tokens remaining" in told[1]
    assert "only 1000 tokens remaining" in again["decision"]["reminder"]


@requirement("CX-11-switch-need-not-compact")
@pytest.mark.parametrize(
    ("total", "reason", "by"),
    [
        (115_199, "under_line", None),
        (115_200, "token_limit_reached", None),
        (115_201, "model_downshift", "big"),
    ],
)
async def test_a_smaller_model_has_the_previous_one_compact_what_is_too_much(
    timed: Timed, total: int, reason: str, by: str | None
) -> None:
    session = await talk_of(timed, model_profile={"name": "big", "context_window": 272_000})
    await used(session, total)
    small = {"name": "small", "context_window": 128_000}
    await session.client.patch(f"/v1/sessions/{session.id}", json={"model_profile": small})
    await session.append(user("Next."))
    prepared = await session.prepare()

    assert prepared["limits"]["hard_limit_tokens"] == 121_600
    assert prepared["decision"]["reason"] == reason
    assert prepared["decision"]["compact_with_model"] == by


async def test_an_overflow_fills_the_window_so_that_the_next_call_compacts(timed: Timed) -> None:
    session = await talk_of(timed)
    await used(session, 600)
    await session.append(user("Next."))
    prepared = await session.prepare(turn_id="t", model_call=1)
    refused = {
        "prepared_id": prepared["prepared_id"],
        "error": "context_overflow",
        "delivery": "not_sent",
    }
    recovered = await session.prepare(turn_id="t", model_call=1, recover_from=refused)
    again = await session.prepare(turn_id="t", model_call=1, recover_from=refused)
    total = (await session.read())["usage"]["last_total"]

    assert recovered["decision"]["action"] == "compact"
    assert recovered["decision"]["reason"] == "context_overflow"
    assert recovered["decision"]["measured_tokens"] == 9_500
    assert (recovered["decision"], recovered["budget"]) == (again["decision"], again["budget"])
    assert total == {"tokens": 9_500, "source": "overflow", "reasoning_included": False}


async def test_growth_behind_the_prefix_compacts_and_a_new_window_counts_anew(
    timed: Timed,
) -> None:
    policy = {
        "preset": "codex",
        "model_auto_compact_token_limit": 40,
        "model_auto_compact_token_limit_scope": "body_after_prefix",
    }
    session = await talk_of(timed, policy)
    first = await report(session, input_tokens=8_000, output_tokens=20)
    await session.append(user("more"), assistant("done"))
    second = await report(session, input_tokens=8_030, output_tokens=10)
    await session.append(user("Next."))
    prepared = await session.prepare()
    await compact(session)
    window = (await session.read())["usage"]

    assert first["status"]["scope_tokens"] == 20
    assert not first["status"]["token_limit_reached"]
    assert (second["status"]["scope_tokens"], second["status"]["prefill_input_tokens"]) == (
        40,
        8_000,
    )
    assert prepared["decision"]["reason"] == "token_limit_reached"
    assert prepared["limits"]["scope"] == "body_after_prefix"
    assert window["prefill_source"] == "estimated"
    assert window["prefill_input_tokens"] == window["last_total"]["tokens"]


async def test_an_unknown_window_is_unknown_everywhere(timed: Timed) -> None:
    session = await talk_of(timed, model_profile=None)
    told = await used(session, 10**9)
    await session.append(user("Next."))
    prepared = await session.prepare()

    assert prepared["decision"]["reason"] == "unknown_window"
    assert prepared["budget"]["state"] == "unknown"
    assert {
        name: prepared["limits"][name]
        for name in ("context_window", "hard_limit_tokens", "auto_compact_token_limit")
    } == {"context_window": None, "hard_limit_tokens": None, "auto_compact_token_limit": None}
    assert told["status"]["base_window_tokens_remaining"] is None
    assert texts(prepared["request"])[-1] == "Next."


async def test_a_prefix_that_reaches_the_line_is_blocked(timed: Timed) -> None:
    session = await talk_of(timed, agent={"system_prompt": "s" * 36_500})
    await used(session, 9_200)
    await session.append(user("Next."))
    decision = (await session.prepare())["decision"]

    assert (decision["action"], decision["reason"]) == ("blocked", "cannot_fit")


async def test_in_body_scope_a_prefix_larger_than_the_line_does_not_block(timed: Timed) -> None:
    session = await talk_of(
        timed,
        {
            "preset": "codex",
            "model_auto_compact_token_limit": 500,
            "model_auto_compact_token_limit_scope": "body_after_prefix",
        },
        agent={"system_prompt": "x" * 4_000},
    )
    await report(session, input_tokens=1_100, output_tokens=500)
    await session.append(user("Next."))
    decision = (await session.prepare())["decision"]

    assert (decision["action"], decision["reason"]) == ("compact", "token_limit_reached")
    assert (decision["measured_tokens"], decision["line_tokens"]) == (500, 500)


async def test_a_session_leaves_a_model_whose_window_codex_refuses(timed: Timed) -> None:
    session = await talk_of(
        timed, "openwork", model_profile={"name": "odd", "context_window": 2**63}
    )
    changed = await session.client.patch(
        f"/v1/sessions/{session.id}", json={"policy": "codex", "model_profile": WINDOW}
    )
    await session.append(user("Next."))

    assert changed.status_code == 200
    assert (await session.prepare())["decision"]["action"] == "submit"


async def test_a_window_that_begins_with_an_image_is_not_full_of_its_base64_text(
    timed: Timed,
) -> None:
    session = await timed.session(policy="codex", model_profile=WINDOW)
    source = {"source_type": "base64", "media_type": "image/png", "data": "A" * 400_000}
    await session.append(message("user", [{"type": "data", "source": source}]))
    first = await session.prepare()
    await session.append(assistant("A blank image."), user("Next."), assistant("Done."))
    await session.post("rewind", {"through_sequence": 2})
    await session.append(user("Again."))
    prepared = await session.prepare()

    assert (first["decision"]["action"], first["budget"]["fits"]) == ("submit", True)
    assert (prepared["decision"]["action"], prepared["budget"]["state"]) == ("submit", "ok")
    assert 1_844 < (await session.read())["usage"]["last_total"]["tokens"] < 2_000
