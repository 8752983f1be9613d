"""Preset calibrated in a session: what is predicted, and when it shortens or stops."""

import pytest

from tests.api.client import Json, SessionApi, assistant, calls, results, tool_result, user
from tests.api.client import message as any_message
from tests.api.compacting import Timed, compact, run_turn, start
from tests.api.reporting import report

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOW: Json = {"name": "model-a", "context_window": 10_000, "max_output_tokens": 2_000}
"""Reserve 2 000, effective input 8 000, line 6 800, target of pruning 4 080."""
POINT: Json = {"turn_id": "t", "model_call": 1}


async def talk_of(timed: Timed, **policy: object) -> SessionApi:
    """A session with one request, its answer, and a report of it."""
    session = await timed.session(policy={"preset": "calibrated", **policy}, model_profile=WINDOW)
    await session.append(user("Fix the build."))
    await session.prepare()
    await session.append(assistant("Fixed."))
    return session


async def with_old_results(session: SessionApi, count: int, words: int) -> None:
    """Some rounds of a tool, with results that pruning would shorten."""
    for number in range(count):
        call = f"old-{number}"
        output = any_message("tool", [tool_result(call, "word " * words)])
        await session.append(user(f"Read {number}."), calls(call), output, assistant("Read."))


async def test_before_a_report_the_tokenizer_counts_and_afterwards_the_prediction(
    timed: Timed,
) -> None:
    session = await talk_of(timed)
    first = await session.prepare()
    await report(session, input_tokens=900, output_tokens=30)
    await session.append(user("And now?"))
    second = await session.prepare()
    counts = second["budget"]["counts"]

    assert first["budget"]["counts"]["calibrated"] is None
    assert first["decision"]["measured_tokens"] == first["budget"]["counts"]["tokenizer"]
    assert second["decision"]["measured_tokens"] == counts["calibrated"]
    assert 930 <= counts["calibrated"] <= 945
    assert "reported input 900" in counts["basis"]["calibrated"]
    assert sum(counts["regions"]["calibrated"].values()) == counts["calibrated"]


async def test_the_report_of_a_prepared_call_predicts_the_next_one(timed: Timed) -> None:
    session = await talk_of(timed)
    await session.append(user("Again."))
    prepared = await session.prepare()
    await session.append(assistant("Done."))
    await report(session, prepared_id=prepared["prepared_id"], input_tokens=500, output_tokens=5)
    await session.append(user("word " * 100))
    counts = (await session.prepare())["budget"]["counts"]

    assert 600 <= counts["calibrated"] <= 620


async def test_a_prediction_at_the_line_asks_for_a_compaction(timed: Timed) -> None:
    session = await talk_of(timed, min_gain_tokens=0, auto_prune=False)
    await report(session, input_tokens=6_790, output_tokens=20)
    await session.append(user("Next."))
    prepared = await session.prepare()
    await compact(session)
    after = await session.prepare()

    assert (prepared["decision"]["action"], prepared["decision"]["line_tokens"]) == (
        "compact",
        6_800,
    )
    assert prepared["budget"]["fits"] is True
    assert prepared["budget"]["suggested_max_output_tokens"] == 2_000
    assert after["decision"]["action"] == "submit"


async def test_a_fold_for_too_little_is_not_asked_for(timed: Timed) -> None:
    session = await talk_of(timed)
    await report(session, input_tokens=6_900, output_tokens=20)
    await session.append(user("Next."))
    fitting = (await session.prepare())["decision"]
    await report(session, input_tokens=9_500, output_tokens=20)
    full = (await session.prepare())["decision"]

    assert (fitting["action"], fitting["reason"]) == ("submit", "token_limit_reached")
    assert "fewer than the 4096 that make one worth it" in fitting["detail"]
    assert (full["action"], full["reason"]) == ("blocked", "cannot_fit")


async def test_pruning_that_reaches_its_target_is_enough(timed: Timed) -> None:
    session = await talk_of(timed, min_gain_tokens=100, prune_tool_result_chars=1_024)
    await with_old_results(session, 3, 2_500)
    await session.append(user("Next."))
    prepared = await session.prepare()

    assert prepared["pruned"]["tool_results"] >= 2
    assert prepared["decision"]["action"] == "submit"
    assert prepared["decision"]["measured_tokens"] <= 4_080


async def test_pruning_that_stays_over_its_target_is_left_out(timed: Timed) -> None:
    session = await talk_of(
        timed, min_gain_tokens=100, prune_tool_result_chars=1_024, target_percent=5
    )
    await with_old_results(session, 3, 2_500)
    await session.append(user("Next."))
    prepared = await session.prepare()

    assert prepared["pruned"]["through_sequence"] is None
    assert prepared["decision"]["action"] == "compact"


async def test_a_compaction_never_follows_another_without_a_gain(timed: Timed) -> None:
    session = await talk_of(timed, auto_prune=False)
    await with_old_results(session, 4, 2_000)
    await session.append(user("Next."))
    first = (await session.prepare())["decision"]
    await compact(session)
    # The provider counts far more than what is there: nothing that could go explains it.
    await session.append(assistant("So."))
    await report(session, input_tokens=7_000, output_tokens=10)
    await report(session, input_tokens=7_001, output_tokens=10)
    await session.append(user("More."))
    second = (await session.prepare())["decision"]

    assert first["action"] == "compact"
    assert (second["action"], second["reason"]) == ("submit", "token_limit_reached")


async def test_after_a_failed_compaction_what_fits_is_sent(timed: Timed) -> None:
    session = await talk_of(timed, auto_prune=False)
    await with_old_results(session, 4, 1_750)
    await session.append(user("Next."))
    await run_turn(session, "t")
    asked = (await session.prepare(**POINT))["decision"]
    held = await start(session, kind="threshold", **POINT)
    for attempt in (1, 2, 3):
        await held.fail("transient", attempt)
    failed = (await session.prepare(**POINT))["decision"]

    assert asked["action"] == "compact"
    assert (failed["action"], failed["reason"]) == ("submit", "compaction_failed")


async def test_the_ratio_outlives_a_compaction_and_the_anchor_does_not(timed: Timed) -> None:
    session = await talk_of(timed, min_gain_tokens=0)
    await report(session, input_tokens=900, output_tokens=30)
    await session.append(user("More."), calls("c1"), results("c1"), assistant("Done."))
    await compact(session)
    counts = (await session.prepare())["budget"]["counts"]

    assert counts["basis"]["calibrated"].startswith("no report in this window")
    assert counts["calibrated"] is not None
