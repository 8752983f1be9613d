"""The stream of events: what it tells, in which order, and how a listener goes on after a break."""

from collections.abc import AsyncIterator
from http import HTTPStatus

import httpx
import pytest

from app.core.events import Event
from app.services.event_streams import LARGEST_PAGE
from app.services.listeners import Listeners
from app.store.events import EventWriter
from tests.api.client import Json, SessionApi, assistant, succeeded, user
from tests.api.compacting import (
    LINE,
    LONG,
    POINT,
    Timed,
    compact,
    run_turn,
    start,
    summary_of,
    timed_service,
)
from tests.api.streaming import Told, listening
from tests.requirements import requirement

SOON = 0.01
NEVER = 3_600.0
"""Seconds that no test takes."""
A_DAY = 24 * 60 * 60
NOTHING: Json = {"compaction_id": "c", "kind": "manual", "plan_key": None}


@pytest.fixture
async def timed(database_url: str) -> AsyncIterator[Timed]:
    """A service of its own for every test, since all its events are in one order."""
    quick = Listeners(poll_seconds=SOON, comment_seconds=SOON)
    async with timed_service(database_url, listeners=quick) as timed:
        yield timed


async def kept(timed: Timed, last_event_id: str = "0", **query: str) -> list[Told]:
    """The events that there are behind one: a comment says that there are no more."""
    told = []
    async with listening(timed.app, last_event_id, **query) as listener:
        while (next_one := await listener.told()).event is not None:
            told.append(next_one)
    return told


def types(told: list[Told]) -> list[str | None]:
    return [each.event for each in told]


async def over_line(timed: Timed, **fields: object) -> SessionApi:
    """A session in a turn whose next call waits for a compaction."""
    session = await timed.session(model_profile=LINE, **fields)
    await run_turn(session)
    await session.append(user("Fix the build."), assistant(LONG), user("And now?"))
    return session


async def rewind(session: SessionApi, **target: object) -> Json:
    return succeeded(await session.post("rewind", target))


@requirement("GO-7.2-notice-then-replacement", "GO-7.2-history-replaced-event")
@pytest.mark.parametrize("preset", ["openwork", "goose"])
async def test_a_notice_goes_out_before_the_history_is_replaced(timed: Timed, preset: str) -> None:
    threshold = {"threshold": 0.1} if preset == "goose" else {}
    session = await over_line(timed, policy={"preset": preset, **threshold})
    prepared = await session.prepare(**POINT)
    wanted = prepared["decision"]["compaction"]
    held = await start(session, kind="threshold", **POINT)
    succeeded(await held.complete())
    needed, replaced, completed = await kept(timed)
    about = {"session_id": session.id, "compaction_id": held.id, "kind": "threshold"}

    assert needed.data == {
        "session_id": session.id,
        "type": "compaction_needed",
        "plan_key": wanted["plan_key"],
        "kind": "threshold",
        "reason": prepared["decision"]["reason"],
    }
    assert replaced.data == {
        **about,
        "type": "history_replaced",
        "window": (await session.read())["window"],
    }
    assert completed.data == {
        **about,
        "type": "compaction_completed",
        "plan_key": wanted["plan_key"],
    }
    assert [needed.place, replaced.place, completed.place] == [1, 2, 3]
    assert {told.id.partition("-")[2] for told in (needed, replaced, completed)} == {
        session.created["incarnation"]
    }


async def test_a_compaction_by_hand_is_told_of_when_it_is_there(timed: Timed) -> None:
    session = await timed.session()
    await session.append(user("Fix the build."), assistant("Done."))
    held = await start(session)
    before = await kept(timed)
    succeeded(await held.complete("too short", finish_reason="stop"))
    rejected = await kept(timed)
    succeeded(await held.complete(attempt=2))

    assert (before, rejected) == ([], [])
    assert types(await kept(timed)) == ["history_replaced", "compaction_completed"]


async def test_a_rewind_and_an_undo_replace_the_history_too(timed: Timed) -> None:
    session = await timed.session()
    await session.append(user("Fix the build."), assistant("Done."))
    folded = await compact(session)
    again = await rewind(session, undo_compaction=folded["checkpoint"]["id"])
    back = await rewind(session, through_sequence=1)
    replaced = [told.data or {} for told in await kept(timed, type="history_replaced")]

    assert [(data["compaction_id"], data["kind"]) for data in replaced] == [
        (folded["checkpoint"]["id"], "manual"),
        (again["id"], "rewind"),
        (back["id"], "rewind"),
    ]
    assert [data["window"]["number"] for data in replaced] == [1, 2, 3]


async def test_a_fold_of_the_provider_is_told_of_too(timed: Timed) -> None:
    session = await timed.session()
    await session.append(user("Fix the build."), assistant("Done."))
    payload = {"encrypted": "what only the provider reads"}
    opaque = {"type": "provider_opaque", "driver": "cli", "kind": "fold", "payload": payload}
    body = {"kind": "provider", "through_sequence": 2, "opaque": opaque}
    folded = succeeded(await session.post("compactions", body))
    again = succeeded(await session.post("compactions", body))
    told = await kept(timed)

    assert again == folded
    assert types(told) == ["history_replaced", "compaction_completed"]
    assert [data["compaction_id"] for each in told if (data := each.data)] == [folded["id"]] * 2
    assert "only the provider" not in repr(told)


async def test_a_summary_that_was_begun_before_is_told_of_once_it_is_shown(timed: Timed) -> None:
    settings = {"threshold": 4, "prefetch_ratio": 0.5, "keep_last": 2}
    session = await timed.session(policy={"preset": "awaken", "compact": settings})
    await session.append(*(user(f"message {number}") for number in range(3)))
    held = await start(session, kind="prefetch")
    succeeded(await held.complete("S"))
    begun = await kept(timed)
    await run_turn(session)
    await session.append(*(user(f"message {number}") for number in range(3, 6)))
    prepared = await session.prepare(**POINT)

    assert begun == []
    assert prepared["decision"]["action"] == "submit"
    assert types(await kept(timed)) == ["history_replaced", "compaction_completed"]


async def test_a_needed_compaction_is_told_of_once_per_plan(timed: Timed) -> None:
    session = await over_line(timed)
    keys = []
    for append in ([], [], [assistant("I see."), user("And then?")], []):
        prepared = await session.prepare(append=append, **POINT)
        keys.append(prepared["decision"]["compaction"]["plan_key"])
    other = await over_line(timed)
    await other.prepare(**POINT)
    told = await kept(timed, type="compaction_needed", session_id=session.id)

    assert [data["plan_key"] for each in told if (data := each.data)] == [keys[0], keys[2]]
    assert keys[0] == keys[1] != keys[2] == keys[3]
    assert len(await kept(timed, type="compaction_needed", session_id=other.id)) == 1


async def test_a_broken_prefix_is_told_of_with_its_cause_and_place(timed: Timed) -> None:
    session = await timed.session()
    await session.prepare(append=[user("a"), assistant("b"), user("c")])
    await session.prepare(append=[assistant("d"), user("e")])
    intact = await kept(timed)
    await rewind(session, through_sequence=2)
    prepared = await session.prepare(append=[user("f")])
    await session.prepare()
    (told,) = await kept(timed, type="prefix_broken")

    assert intact == []
    assert told.data == {
        "session_id": session.id,
        "type": "prefix_broken",
        "prepared_id": prepared["prepared_id"],
        "cause": "rewind",
        "message_index": 3,
    }


async def test_what_is_refused_tells_nothing(timed: Timed) -> None:
    session = await over_line(timed)
    bad = await session.post("prepare", {**POINT, "expected_message_count": 1})
    gone = await session.post("rewind", {"compaction_id": "compaction-none"})

    assert (bad.is_error, gone.is_error) == (True, True)
    assert await kept(timed) == []


async def test_a_listener_is_told_of_what_comes_and_not_of_what_was(timed: Timed) -> None:
    session = await timed.session()
    await session.append(user("a"), assistant("b"))
    await rewind(session, through_sequence=1)
    async with listening(timed.app) as listener:
        first = await listener.told()
        await rewind(session, through_sequence=0)
        event = await listener.event()

    assert (first.id, first.event) == ("1", None)
    assert (event.place, event.event) == (2, "history_replaced")
    assert (listener.status, listener.headers) == (
        HTTPStatus.OK,
        {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"},
    )


async def test_an_event_of_the_process_itself_comes_without_a_look_for_it(
    database_url: str,
) -> None:
    patient = Listeners(poll_seconds=NEVER, comment_seconds=NEVER)
    async with timed_service(database_url, listeners=patient) as timed:
        session = await timed.session()
        await session.append(user("a"), assistant("b"))
        async with listening(timed.app) as one, listening(timed.app) as other:
            for listener in (one, other):
                assert (await listener.told()).event is None
            await rewind(session, through_sequence=1)

            assert await one.event() == await other.event()


async def test_events_of_another_process_come_too(timed: Timed, database_url: str) -> None:
    async with timed_service(database_url) as elsewhere, listening(timed.app) as listener:
        session = await elsewhere.session()
        await session.append(user("a"), assistant("b"))
        await rewind(session, through_sequence=1)

        assert (await listener.event()).event == "history_replaced"


async def test_a_listener_goes_on_behind_the_event_that_it_had_last(timed: Timed) -> None:
    session = await timed.session()
    await session.append(user("a"), assistant("b"))
    for _ in range(3):
        await rewind(session, through_sequence=1)
    first, second, third = await kept(timed)

    assert await kept(timed, first.id) == [second, third]
    assert await kept(timed, str(second.place)) == [third]
    assert await kept(timed, third.id) == []


async def test_what_is_more_than_a_page_comes_whole(timed: Timed) -> None:
    session = await timed.session()
    incarnation, database = session.created["incarnation"], timed.app.state.resources.database
    event = Event(type="compaction_completed", session_id=session.id, about=NOTHING)
    async with database.writing() as connection:
        for _ in range(2 * LARGEST_PAGE + 1):
            await EventWriter(connection).add(event, incarnation, None, timed.clock.now())

    assert [told.place for told in await kept(timed)] == list(range(1, 2 * LARGEST_PAGE + 2))


async def test_a_filter_leaves_out_and_the_place_moves_on(timed: Timed) -> None:
    quiet, loud = await timed.session(), await timed.session()
    async with listening(timed.app, session_id=quiet.id) as listener:
        assert (await listener.told()).place == 0
        await loud.append(user("a"), assistant("b"))
        await rewind(loud, through_sequence=1)
        while (told := await listener.told()).place == 0:
            assert told.event is None

    assert (told.id, told.event) == ("1", None)
    assert types(await kept(timed, session_id=loud.id)) == ["history_replaced"]
    assert await kept(timed, session_id=loud.id, type="prefix_broken") == []


async def test_an_event_is_kept_for_a_day_and_then_a_listener_has_to_read_anew(
    timed: Timed,
) -> None:
    session = await timed.session()
    await session.append(user("a"), assistant("b"))
    await rewind(session, through_sequence=1)
    timed.clock.advance(A_DAY)
    await rewind(session, through_sequence=1)
    within = types(await kept(timed, "0"))
    timed.clock.advance(1)
    await rewind(session, through_sequence=1)
    reset, *rest = await kept(timed, "0")

    assert within == ["history_replaced"] * 2
    assert reset == Told(id="1", event="reset", data={"session_id": None, "type": "reset"})
    assert [told.place for told in rest] == [2, 3]
    assert [told.place for told in await kept(timed, "1")] == [2, 3]


@pytest.mark.parametrize("last_event_id", ["2", "999999999999999999", "-1", "one", "", "1-x"])
async def test_an_id_that_is_not_of_these_events_is_a_reset(
    timed: Timed, last_event_id: str
) -> None:
    session = await timed.session()
    await session.append(user("a"), assistant("b"))
    await rewind(session, through_sequence=1)

    assert (await kept(timed, last_event_id))[0].event == "reset"


async def test_a_silent_stream_is_commented_and_says_where_it_is(timed: Timed) -> None:
    async with listening(timed.app) as listener:
        told = [await listener.told() for _ in range(3)]

    assert told == [Told(id="0", event=None, data=None)] * 3


async def test_no_event_tells_what_anybody_said(timed: Timed) -> None:
    secret = "xyzzy"
    session = await over_line(
        timed,
        agent={"system_prompt": secret},
        metadata={"note": secret},
        spill_directory=f"/{secret}",
    )
    await session.append(assistant(secret), user(secret))
    await session.prepare(**POINT, append=[assistant(secret), user(secret)])
    held = await start(session, kind="threshold", **POINT, instructions=secret)
    succeeded(await held.complete(summary_of(secret), finish_reason="stop"))
    await session.prepare(turn_id="t", model_call=2)
    told = await kept(timed)

    assert set(types(told)) == {
        *("compaction_needed", "history_replaced", "compaction_completed", "prefix_broken")
    }
    assert secret in (await session.read(f"compactions/{held.id}"))["checkpoint"]["summary"]
    assert secret not in repr(told)


async def test_the_events_of_an_erased_session_are_gone(timed: Timed) -> None:
    erased, left = await timed.session(), await timed.session()
    for session in (erased, left):
        await session.append(user("a"), assistant("b"))
        await rewind(session, through_sequence=1)
    await timed.api.client.delete(f"/v1/sessions/{erased.id}")

    assert [told.place for told in await kept(timed)] == [2]


async def test_a_process_gives_events_to_so_many_and_no_more(database_url: str) -> None:
    async with timed_service(database_url, listeners=Listeners(most=1)) as timed:
        async with listening(timed.app) as listener:
            refused = await timed.api.client.get("/v1/events")
        async with listening(timed.app) as after:
            assert after.status == HTTPStatus.OK

    assert listener.status == HTTPStatus.OK
    assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (
        *(HTTPStatus.SERVICE_UNAVAILABLE, "too_many_streams"),
        "1",
    )


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"session_id": "a b"}, "invalid_request"),
        ({"session_id": ""}, "invalid_request"),
        ({"type": "prepared"}, "invalid_request"),
        ({"session": "s"}, "unknown_field"),
    ],
)
async def test_a_query_that_there_is_not_is_refused(
    timed: Timed, query: dict[str, str], code: str
) -> None:
    refused: httpx.Response = await timed.api.client.get("/v1/events", params=query)

    assert (refused.status_code, refused.json()["code"]) == (
        *(HTTPStatus.UNPROCESSABLE_ENTITY, code),
    )


async def test_a_stream_ends_when_the_process_does(timed: Timed) -> None:
    async with listening(timed.app) as listener:
        await listener.told()
        timed.app.state.resources.listeners.end()

        assert b"event:" not in await listener.rest()
