"""Waiting calls and folds over HTTP: a call that may still be answered is never summarised away."""

import pytest
import pytest_asyncio

from tests.api.client import Json, SessionApi, assistant, message, results, tool_call, user
from tests.api.client import tool_result as result_block
from tests.api.compacting import (
    AFTER_FOLD,
    Timed,
    compact,
    put_turn,
    reasons,
    request_compaction,
    run_turn,
    start,
    summary_of,
    texts,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

HIDDEN = "result_of_summarised_call"


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session of m1, the user's, and m2, the model's."""
    return talk


def waiting(*call_ids: str, message_id: str = "m3", state: str = "pending", **fields: str) -> Json:
    """A message whose calls wait for somebody."""
    blocks = [tool_call(call_id, state=state) for call_id in call_ids]
    return message("assistant", blocks, message_id, **fields)


async def seen(session: SessionApi) -> list[str]:
    """What the next request is made of."""
    return reasons(await session.prepare(include=["provenance"]))


async def told_repairs(session: SessionApi) -> list[Json]:
    repairs: list[Json] = (await session.prepare())["repairs"]
    return repairs


@pytest.mark.parametrize("state", ["pending", "submitted"])
async def test_B014_a_call_that_waits_for_a_person_stays_behind_the_summary(
    session: SessionApi, state: str
) -> None:
    await session.append(waiting("confirm", state=state), user("Meanwhile?", "m4"))
    await session.append(*(assistant(f"step {number}", f"s{number}") for number in range(10)))
    held = await start(session)
    await held.complete()
    during = await session.prepare(include=["provenance"])
    await session.append(results("confirm", message_id="late"))
    after = await session.prepare(include=["provenance"])

    assert held.answer["source"]["through_sequence"] == 2
    assert reasons(during)[:6] == [*AFTER_FOLD, "m3", "interrupted_tool_result", "m4"]
    assert reasons(after)[:6] == [*AFTER_FOLD, "m3", "late", "m4"]
    assert after["prefix"]["cause"] == "late_tool_result"
    assert after["repairs"] == []


async def test_a_result_that_runs_keeps_its_call_behind_the_summary(session: SessionApi) -> None:
    running = message("tool", [result_block("c1", "10 %", state="running")], "m4")
    await session.append(waiting("c1", state="finished"), running, user("And?", "m5"))
    await compact(session)
    during = await seen(session)
    await session.append(results("c1", message_id="m6"))

    assert during == [*AFTER_FOLD, "m3", "m4", "m5"]
    assert await seen(session) == [*AFTER_FOLD, "m3", "m6", "m5"]


async def test_what_was_answered_is_folded_with_the_next_summary(session: SessionApi) -> None:
    await session.append(waiting("c1"), user("And?", "m4"))
    await compact(session)
    await session.append(results("c1", message_id="m5"))
    await compact(session, summary_of("the answer"))

    assert await seen(session) == AFTER_FOLD
    assert texts((await session.prepare())["request"])[0] == "And?"


async def test_a_call_that_waits_in_front_leaves_nothing_to_fold(timed: Timed) -> None:
    session = await timed.session()
    await session.append(waiting("c1"), user("And?", "m4"))
    response = await request_compaction(session)

    assert response.json()["code"] == "nothing_to_compact"
    assert await seen(session) == ["m3", "interrupted_tool_result", "m4"]


@pytest.mark.parametrize("end", ["failed", "cancelled", "lapsed"])
async def test_a_call_of_a_turn_that_broke_off_blocks_no_fold(
    timed: Timed, session: SessionApi, end: str
) -> None:
    await run_turn(session)
    await session.append(waiting("c1", turn_id="t"), user("And?", "m4"))
    if end == "lapsed":
        timed.clock.advance(121)
    else:
        await put_turn(session, status=end)
    await compact(session)

    assert await seen(session) == AFTER_FOLD


async def test_a_call_of_a_turn_that_completed_may_still_be_answered(session: SessionApi) -> None:
    await run_turn(session)
    await session.append(waiting("c1", turn_id="t"))
    await put_turn(session, status="completed")
    await compact(session)

    assert await seen(session) == [*AFTER_FOLD, "m3", "interrupted_tool_result"]


@pytest_asyncio.fixture(loop_scope="module")
async def summarised(session: SessionApi) -> SessionApi:
    """The session behind a summary that folded two calls of a worker that died."""
    await run_turn(session)
    await session.append(waiting("c1", "c2", turn_id="t"))
    await put_turn(session, status="failed")
    await compact(session)
    return session


async def test_a_result_of_a_summarised_call_is_stored_left_out_and_listed(
    summarised: SessionApi,
) -> None:
    before = await summarised.prepare()
    appended = await summarised.append(results("c1", "c2", message_id="m4"), user("Go on.", "m5"))
    prepared = await summarised.prepare(include=["provenance"])
    listed = [{"code": HIDDEN, "message_id": "m4", "call_id": call_id} for call_id in ("c1", "c2")]

    assert appended["repairs"] == listed
    assert reasons(prepared) == [*AFTER_FOLD, "m5"]
    assert prepared["repairs"] == [{**repair, "item_index": 3} for repair in listed]
    assert prepared["request"]["messages"][:4] == before["request"]["messages"]
    assert (await summarised.read("messages/m4"))["covered_by"] is None
    assert (await summarised.read())["resume"]["unresolved_tool_calls"] == []


async def test_a_result_of_a_summarised_call_that_is_sent_again_changes_nothing(
    summarised: SessionApi,
) -> None:
    await summarised.append(results("c1", message_id="m4"))
    again = await summarised.append(results("c1", message_id="m4"))

    assert (again["message_count"], again["repairs"]) == (4, [])


async def test_a_prepare_lists_the_result_that_it_brings(summarised: SessionApi) -> None:
    prepared = await summarised.prepare(append=[results("c1", message_id="m4")])

    assert prepared["repairs"] == [
        {"code": HIDDEN, "item_index": 3, "message_id": "m4", "call_id": "c1"}
    ]


async def test_a_summarised_call_is_shown_with_its_result_once_the_fold_is_undone(
    summarised: SessionApi,
) -> None:
    view = (await summarised.read())["latest_compaction_id"]
    await summarised.append(results("c1", "c2", message_id="m4"))
    await summarised.post("rewind", {"undo_compaction": view})

    assert await told_repairs(summarised) == []
    assert await seen(summarised) == ["m1", "m2", "m3", "m4", "m4"]


async def test_a_result_of_a_call_that_a_rewind_hides_is_listed_too(session: SessionApi) -> None:
    await session.append(waiting("c1"))
    await session.post("rewind", {"through_sequence": 2})
    appended = await session.append(results("c1", message_id="m4"))

    assert [repair["code"] for repair in appended["repairs"]] == [HIDDEN]
    assert [repair["code"] for repair in await told_repairs(session)] == [HIDDEN]
    assert await seen(session) == ["m1", "m2"]


async def test_a_result_in_front_of_no_summary_is_an_orphan(session: SessionApi) -> None:
    await session.append(waiting("c1", state="finished"), user("Stop.", "m4"))
    appended = await session.append(results("c1", message_id="m5"))

    assert appended["repairs"] == []
    assert [repair["code"] for repair in await told_repairs(session)] == [
        "tool_result_synthesised",
        "orphan_tool_result_dropped",
    ]


async def test_B002_a_made_result_is_never_stored_and_never_outlives_its_call(
    session: SessionApi,
) -> None:
    await session.append(waiting("c1", state="finished"), user("Stop.", "m4"))
    made = await seen(session)
    await compact(session)

    assert made == ["m1", "m2", "m3", "interrupted_tool_result", "m4"]
    assert await seen(session) == AFTER_FOLD
    assert len(await session.messages()) == 4


async def test_B001_B005_no_fold_leaves_a_result_without_its_call(session: SessionApi) -> None:
    for number in range(4):
        call_id = f"c{number}"
        await session.append(message("assistant", [tool_call(call_id)], f"a{number}"))
        held = await start(session, instructions=f"Round {number}.")
        await session.append(results(call_id, message_id=f"r{number}"))
        await held.complete()
        prepared = await session.prepare(include=["provenance"])

        assert reasons(prepared) == AFTER_FOLD
        assert [repair["code"] for repair in prepared["repairs"]] == [HIDDEN]
