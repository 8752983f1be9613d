"""The series of a session's usage: what was reported, what was expected, and what happened."""

from typing import Any

import pytest

from tests.api.client import AGENT, Json, SessionApi, assistant, calls, message, tool_result, user
from tests.api.compacting import LINE, LONG, POINT, Timed, compact, refusal, run_turn
from tests.api.reporting import FIELDS, report, series, usage_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session with one request and its answer."""
    return talk


def marks(entries: list[Json]) -> list[tuple[str | None, str | None]]:
    return [(entry["event"], entry["cause"]) for entry in entries]


async def called(session: SessionApi, *messages: Json, **prepare: Any) -> Json:
    """A prepared call and the report of it."""
    prepared = await session.prepare(append=messages, **prepare)
    await report(session, prepared_id=prepared["prepared_id"], input_tokens=1_000, output_tokens=10)
    return prepared


async def change(session: SessionApi, **fields: Any) -> None:
    response = await session.client.patch(f"/v1/sessions/{session.id}", json=fields)
    assert response.status_code == 200, response.text


def overflow(prepared: Json, delivery: str = "not_sent") -> Json:
    return {
        "recover_from": {
            "prepared_id": prepared["prepared_id"],
            "error": "context_overflow",
            "delivery": delivery,
        }
    }


async def test_an_entry_holds_what_was_thought_of_a_call_and_what_it_took(
    timed: Timed, session: SessionApi
) -> None:
    prepared = await session.prepare(turn_id="t", model_call=1)
    timed.clock.advance(3)
    await report(
        session,
        turn_id="t",
        model_call=1,
        prepared_id=prepared["prepared_id"],
        model="model-a-2026-01-01",
        raw={
            "format": "openai.chat",
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
        },
    )

    assert await series(session) == [
        {
            "at": timed.clock.now().isoformat(),
            "turn_id": "t",
            "model_call": 1,
            "prepared_id": prepared["prepared_id"],
            "model": "model-a-2026-01-01",
            "estimated_input_tokens": prepared["budget"]["estimated_input_tokens"],
            "calibrated_input_tokens": None,
            "input_tokens": 100,
            "cached_input_tokens": 64,
            "expected_cached_tokens": 0,
            "cache_write_tokens": None,
            "output_tokens": 20,
            "reasoning_output_tokens": 5,
            "total_tokens": 120,
            "window_number": 0,
            "late": False,
            "estimated": False,
            "event": None,
            "cause": None,
        }
    ]


async def test_what_no_prepared_call_tells_is_unknown(session: SessionApi) -> None:
    await report(session, output_tokens=20)
    (entry,) = await series(session)

    assert {name: entry[name] for name in FIELDS} == {
        "turn_id": None,
        "model_call": None,
        "model": "model-a",
        "input_tokens": None,
        "cached_input_tokens": None,
        "output_tokens": 20,
        "event": None,
        "cause": None,
        "late": False,
    }
    assert entry["estimated_input_tokens"] is entry["expected_cached_tokens"] is None


async def test_what_a_call_repeats_of_the_one_before_is_expected_to_be_cached(
    timed: Timed,
) -> None:
    tool = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}
    session = await timed.session(agent={**AGENT, "tools": [tool]})
    first = await called(session, user("Fix the build."))
    second = await called(session, assistant("Done."), user("And the tests."))
    _, entry = await series(session)
    tools = next(part for part in second["prefix"]["segments"] if part["name"] == "tools")
    repeated = second["prefix"]["common_bytes"] + tools["bytes"]

    assert second["prefix"]["common_messages"] == len(first["request"]["messages"])
    assert entry["expected_cached_tokens"] == -(-repeated // 4)
    assert entry["event"] is None


async def test_other_tools_stand_in_front_of_everything_and_leave_nothing_cached(
    session: SessionApi,
) -> None:
    await called(session)
    tool = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}
    await change(session, agent={**AGENT, "tools": [tool]})
    await called(session)
    entry = (await series(session))[-1]

    assert (entry["event"], entry["cause"]) == ("prefix_break", "agent_changed")
    assert entry["expected_cached_tokens"] == 0


async def test_compactions_switches_breaks_and_overflows_are_marked(timed: Timed) -> None:
    session = await timed.session()
    await called(session, user("Fix the build."), assistant("Done."), user("And the tests."))
    await compact(session)
    await called(session)
    await change(session, agent={"system_prompt": "You write tests."})
    await called(session)
    await change(session, model="model-b")
    prepared = await called(session)
    await run_turn(session)
    await session.prepare(**POINT, **overflow(prepared))
    await change(session, model="model-a")
    await called(session, user("Again."))

    assert marks(await series(session)) == [
        (None, None),
        ("compaction", "manual"),
        ("prefix_break", "compaction"),
        ("prefix_break", "agent_changed"),
        ("model_switch", "model-a"),
        ("overflow", None),
        ("model_switch", "model-b"),
    ]


async def test_a_compaction_tells_its_call_and_what_the_window_begins_with(
    timed: Timed, session: SessionApi
) -> None:
    await run_turn(session)
    await compact(session, kind="threshold", turn_id="t", model_call=3)
    (entry,) = await series(session)
    usage = await usage_of(session)

    assert {name: entry[name] for name in FIELDS} == {
        "turn_id": "t",
        "model_call": 3,
        "model": "model-a",
        "input_tokens": None,
        "cached_input_tokens": None,
        "output_tokens": None,
        "event": "compaction",
        "cause": "threshold",
        "late": False,
    }
    assert (entry["window_number"], entry["at"]) == (1, timed.clock.now().isoformat())
    assert entry["estimated_input_tokens"] == usage["last_total"]["tokens"]


async def test_a_rewind_begins_a_window_too(session: SessionApi) -> None:
    await session.append(user("More."), assistant("Yes."))
    response = await session.post("rewind", {"through_sequence": 2})
    assert response.status_code == 201

    assert marks(await series(session)) == [("compaction", "rewind")]


async def test_a_model_under_its_dated_name_is_no_switch(session: SessionApi) -> None:
    for answered in ("model-a", "model-a-2026-01-01"):
        prepared = await session.prepare(append=[user(answered)])
        named = {"prepared_id": prepared["prepared_id"], "model": answered}
        await report(session, **named, input_tokens=1, output_tokens=1)

    assert marks(await series(session)) == [(None, None), (None, None)]


async def test_without_prepared_calls_the_names_that_answered_are_compared(
    session: SessionApi,
) -> None:
    for model in ("model-a", "model-b", "model-b"):
        await report(session, model=model, turn_id=model, output_tokens=1, model_call=1)
        await report(session, model=model, turn_id=model, output_tokens=1, model_call=2)

    assert marks(await series(session)) == [
        *[(None, None)] * 2,
        ("model_switch", "model-a"),
        (None, None),
    ]


async def full_session(timed: Timed, **fields: Any) -> tuple[SessionApi, Json]:
    """A session in its turn with a prepared call that a provider may find too long."""
    session = await timed.session(**fields)
    await run_turn(session)
    await session.append(user("One."), assistant("Two."), user("Three."))
    return session, await session.prepare(**POINT)


async def test_an_overflow_fills_the_window_and_is_told_once(timed: Timed) -> None:
    session, prepared = await full_session(timed)
    await session.prepare(**POINT, **overflow(prepared))
    usage, version = await usage_of(session), (await session.read())["version"]
    await session.prepare(**POINT, **overflow(prepared))
    (entry,) = await series(session)

    assert usage["last_total"] == {
        "tokens": 200_000,
        "source": "overflow",
        "reasoning_included": False,
    }
    assert (entry["event"], entry["prepared_id"]) == ("overflow", prepared["prepared_id"])
    assert (entry["turn_id"], entry["model_call"], entry["model"]) == ("t", 1, "model-a")
    assert entry["estimated_input_tokens"] == prepared["budget"]["estimated_input_tokens"]
    assert (await session.read())["version"] == version


async def test_an_overflow_whose_output_was_emitted_fills_the_window_too(timed: Timed) -> None:
    session, prepared = await full_session(timed)
    blocked = await session.prepare(**POINT, **overflow(prepared, "semantic_output_emitted"))
    again = await session.prepare(**POINT, **overflow(prepared, "semantic_output_emitted"))

    assert blocked["decision"] == again["decision"]
    assert blocked["decision"]["action"] == "blocked"
    assert (await usage_of(session))["last_total"]["source"] == "overflow"
    assert len(await series(session)) == 1


async def test_an_overflow_of_an_unknown_window_fills_nothing(timed: Timed) -> None:
    session, prepared = await full_session(timed, model_profile=None)
    await session.prepare(**POINT, **overflow(prepared))

    assert (await usage_of(session))["last_total"] is None
    assert marks(await series(session)) == [("overflow", None)]


async def test_an_overflow_that_pruning_cured_fills_nothing(timed: Timed) -> None:
    session = await timed.session()
    await run_turn(session)
    large = message("tool", [tool_result("c1", "x" * 9_000)])
    await session.append(user("One."), calls("c1"), large, user("Two."), assistant("Yes."))
    await session.append(user("Three."))
    prepared = await session.prepare(**POINT)
    shorter = await session.prepare(**POINT, **overflow(prepared))

    assert shorter["decision"]["action"] == "submit"
    assert (await usage_of(session))["last_total"] is None
    assert marks(await series(session)) == [("overflow", None)]


async def test_an_overflow_of_an_earlier_window_fills_nothing(timed: Timed) -> None:
    session, prepared = await full_session(timed)
    await compact(session, kind="threshold", turn_id="t", model_call=1)
    before = await usage_of(session)
    await session.prepare(turn_id="t", model_call=2, **overflow(prepared))
    entry = (await series(session))[-1]

    assert await usage_of(session) == before
    assert (entry["event"], entry["late"]) == ("overflow", True)


async def test_a_report_after_an_overflow_says_again_what_the_context_holds(
    timed: Timed,
) -> None:
    session, prepared = await full_session(timed)
    await session.prepare(**POINT, **overflow(prepared))
    await report(session, turn_id="t", model_call=2, input_tokens=900, output_tokens=100)

    assert (await usage_of(session))["last_total"]["tokens"] == 1_000


async def test_the_series_is_read_in_pages_in_either_order(session: SessionApi) -> None:
    for number in range(1, 6):
        await report(session, turn_id="t", model_call=number, input_tokens=number, output_tokens=1)

    assert await paged(session, "asc") == [[1, 2], [3, 4], [5]]
    assert await paged(session, "desc") == [[5, 4], [3, 2], [1]]


async def paged(session: SessionApi, order: str) -> list[list[int]]:
    """The inputs of all pages."""
    pages, query = [], {"limit": 2, "order": order}
    while True:
        page = await session.read("usage", **query)
        pages.append([entry["input_tokens"] for entry in page["items"]])
        if page["next_cursor"] is None:
            return pages
        query = {**query, "cursor": page["next_cursor"]}


async def test_reports_that_arrive_while_somebody_reads_shift_no_page(
    session: SessionApi,
) -> None:
    await report(session, turn_id="t", model_call=1, input_tokens=1, output_tokens=1)
    await report(session, turn_id="t", model_call=2, input_tokens=2, output_tokens=1)
    first = await session.read("usage", limit=1, order="desc")
    await report(session, turn_id="t", model_call=3, input_tokens=3, output_tokens=1)
    rest = await session.read("usage", order="desc", cursor=first["next_cursor"])

    assert [entry["input_tokens"] for entry in rest["items"]] == [1]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"cursor": "nope"}, "invalid_cursor"),
        ({"limit": 0}, "invalid_request"),
        ({"limit": 501}, "invalid_request"),
        ({"order": "up"}, "invalid_request"),
        ({"nope": 1}, "unknown_field"),
    ],
)
async def test_a_page_that_cannot_be_is_refused(
    session: SessionApi, query: Json, code: str
) -> None:
    assert refusal(await session.get("usage", **query)) == (422, code)


async def test_a_call_over_its_line_is_in_the_series_as_any_other(timed: Timed) -> None:
    session = await timed.session(model_profile=LINE)
    prepared = await session.prepare(append=[user(LONG)])
    await report(session, prepared_id=prepared["prepared_id"], input_tokens=3_100, output_tokens=1)
    (entry,) = await series(session)

    assert entry["estimated_input_tokens"] > 3_000
    assert entry["input_tokens"] == 3_100
