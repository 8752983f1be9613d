"""Reports that come late: after their window, or after a later call was reported."""

import pytest

from tests.api.client import SessionApi, assistant, calls, results, user
from tests.api.compacting import compact, run_turn
from tests.api.reporting import report, series, totals, usage_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session with one request and its answer."""
    return talk


async def test_TC8_a_report_from_before_a_compaction_is_kept_and_changes_no_state(
    session: SessionApi,
) -> None:
    prepared = await session.prepare()
    await compact(session)
    before = await usage_of(session)
    answer = await report(
        session,
        prepared_id=prepared["prepared_id"],
        input_tokens=150_000,
        output_tokens=100,
        new_context_requested=True,
    )
    after = await usage_of(session)

    assert answer["status"]["active_context_tokens"] == before["last_total"]["tokens"]
    assert answer["status"]["prefill_source"] == "estimated"
    assert after == {**before, "totals": totals(1, input_tokens=150_000, output_tokens=100)}
    assert [(entry["event"], entry["late"]) for entry in await series(session)] == [
        ("compaction", False),
        (None, True),
    ]


async def test_TC8_so_is_one_of_an_earlier_call_of_the_turn_that_compacted(
    session: SessionApi,
) -> None:
    await run_turn(session)
    await compact(session, kind="threshold", turn_id="t", model_call=3)
    before = await usage_of(session)
    await report(session, turn_id="t", model_call=2, input_tokens=150_000, output_tokens=100)
    passed = await usage_of(session)
    await report(session, turn_id="t", model_call=3, input_tokens=900, output_tokens=100)

    assert passed["last_total"] == before["last_total"]
    assert (await usage_of(session))["last_total"]["tokens"] == 1_000


async def test_TC8_and_one_that_comes_with_a_message_that_is_summarised(
    session: SessionApi,
) -> None:
    await session.append(user("More.", "m3"), assistant("Yes.", "m4"), user("Go on.", "m5"))
    await compact(session)
    before = await usage_of(session)
    usage = {"model": "model-a", "input_tokens": 150_000, "output_tokens": 100}
    await session.append(assistant("Done.", "m2"), usage=usage)

    assert (await usage_of(session))["last_total"] == before["last_total"]


async def test_the_first_report_of_a_new_window_is_its_baseline(session: SessionApi) -> None:
    await report(session, input_tokens=150_000, output_tokens=100)
    await compact(session)
    between = await usage_of(session)
    prepared = await session.prepare()
    await report(session, prepared_id=prepared["prepared_id"], input_tokens=900, output_tokens=100)
    after = await usage_of(session)

    assert (between["last_total"]["source"], between["last_call"]) == ("estimated", None)
    assert between["prefill_source"] == "estimated"
    assert (after["prefill_source"], after["prefill_input_tokens"]) == ("observed", 900)


async def test_a_report_that_a_later_one_has_passed_moves_nothing_back(
    session: SessionApi,
) -> None:
    first = await session.prepare(append=[user("More.")])
    await session.append(calls("c1"), results("c1"))
    second = await session.prepare()
    await report(session, prepared_id=second["prepared_id"], input_tokens=900, output_tokens=100)
    before = await usage_of(session)
    await report(
        session,
        prepared_id=first["prepared_id"],
        input_tokens=100,
        output_tokens=20,
        new_context_requested=True,
    )
    after = await usage_of(session)

    assert after == {
        **before,
        "new_context_requested": True,
        "totals": totals(2, input_tokens=1_000, output_tokens=120),
    }
    assert [entry["late"] for entry in await series(session)] == [False, True]


async def test_a_lower_model_call_of_the_same_turn_is_passed_too(session: SessionApi) -> None:
    await report(session, turn_id="t", model_call=2, input_tokens=900, output_tokens=100)
    await report(session, turn_id="t", model_call=1, input_tokens=100, output_tokens=20)

    assert (await usage_of(session))["last_total"]["tokens"] == 1_000
