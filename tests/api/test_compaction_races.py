"""Compactions under way at the same time as everything else: one transaction decides."""

import asyncio
from http import HTTPStatus

import httpx
import pytest

from tests.api.client import Json, SessionApi, succeeded, user
from tests.api.compacting import (
    AFTER_FOLD,
    LINE,
    LONG,
    POINT,
    Timed,
    compact,
    reasons,
    refusal,
    request_compaction,
    run_turn,
    start,
    summary_of,
    texts,
    timed_service,
)
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 10


async def test_of_many_completers_exactly_one_installs(talk: SessionApi) -> None:
    held = await start(talk)
    responses = await asyncio.gather(
        *(held.complete(summary_of(f"parser {number}")) for number in range(MANY))
    )
    won = [response.json() for response in responses if response.status_code == HTTPStatus.OK]
    lost = [response for response in responses if response.status_code != HTTPStatus.OK]
    prepared = (await talk.prepare())["request"]

    assert [answer["status"] for answer in won] == ["completed"]
    assert {refusal(response) for response in lost} == {(HTTPStatus.CONFLICT, "compaction_closed")}
    assert all(response.json()["checkpoint"] == won[0]["checkpoint"] for response in lost)
    assert won[0]["checkpoint"]["summary"] in texts(prepared)[1]
    assert (await talk.read())["window"]["number"] == 1


async def test_of_many_equal_completions_every_one_gets_the_same_answer(talk: SessionApi) -> None:
    held = await start(talk)
    responses = await asyncio.gather(*(held.complete() for _ in range(MANY)))

    assert {response.content for response in responses} == {responses[0].content}
    assert responses[0].json()["status"] == "completed"
    assert (await talk.read())["window"]["number"] == 1


async def test_of_many_requests_exactly_one_gets_the_claim(talk: SessionApi) -> None:
    responses = await asyncio.gather(*(request_compaction(talk) for _ in range(MANY)))
    answers = [response.json() for response in responses]
    statuses = sorted(response.status_code for response in responses)

    assert statuses == [HTTPStatus.OK] * (MANY - 1) + [HTTPStatus.CREATED]
    assert len({answer["id"] for answer in answers}) == 1
    assert sum(answer["claim"] is not None for answer in answers) == 1


async def test_of_many_prepares_exactly_one_starts_the_compaction(timed: Timed) -> None:
    session = await timed.session(model_profile=LINE)
    await run_turn(session)
    body = {**POINT, "append": [user(LONG, "m1")], "start_compaction": True}
    responses = await asyncio.gather(*(session.post("prepare", body) for _ in range(MANY)))
    decisions = [succeeded(response)["decision"] for response in responses]

    assert sorted(decision["action"] for decision in decisions) == ["compact"] + ["wait"] * (
        MANY - 1
    )
    assert len((await session.read("compactions"))["items"]) == 1
    assert len(await session.messages()) == 1


@requirement("OW-4.1-append-is-the-only-writer")
async def test_what_is_appended_during_a_completion_follows_the_summary(talk: SessionApi) -> None:
    held = await start(talk)
    appends = [talk.append(user(f"More {number}.", f"n{number}")) for number in range(MANY)]
    halves = appends[: MANY // 2], appends[MANY // 2 :]
    await asyncio.gather(*halves[0], held.complete(), *halves[1])
    prepared = await talk.prepare(include=["provenance"])
    stored = await talk.messages()

    assert [kept["sequence"] for kept in stored] == list(range(1, 3 + MANY))
    assert reasons(prepared) == [*AFTER_FOLD, *(kept["id"] for kept in stored[2:])]
    assert [kept["covered_by"] for kept in stored] == [held.id] * 2 + [None] * MANY


async def test_a_completion_and_a_rewind_at_once_leave_one_of_two_histories(
    talk: SessionApi,
) -> None:
    held = await start(talk)
    completed, rewound = await asyncio.gather(
        held.complete(), talk.post("rewind", {"through_sequence": 1})
    )
    prepared = await talk.prepare(include=["provenance"])

    assert rewound.status_code == HTTPStatus.CREATED
    assert reasons(prepared) == ["m1"]
    assert (await held.read())["status"] == (
        "completed" if completed.status_code == HTTPStatus.OK else "superseded"
    )


async def test_reports_that_contradict_each_other_spend_one_attempt(talk: SessionApi) -> None:
    held = await start(talk)
    responses = await asyncio.gather(
        held.fail("timeout"),
        held.fail("transient"),
        held.complete("no"),
        held.fail("deterministic"),
    )
    answered = [response.json() for response in responses if response.status_code == HTTPStatus.OK]
    refused = [refusal(response) for response in responses if response.status_code != HTTPStatus.OK]

    assert [(answer["status"], answer["attempt"]) for answer in answered] == [("pending", 2)]
    assert refused == [(HTTPStatus.CONFLICT, "claim_lost")] * 3


async def test_two_plans_on_the_same_base_never_both_become_views(talk: SessionApi) -> None:
    first = await start(talk)
    superseding = request_compaction(talk, supersede=True, instructions="Names.")
    completed, second = await asyncio.gather(first.complete(), superseding)
    numbers = [
        entry["checkpoint"]["sequence"]
        for entry in (await talk.read("compactions"))["items"]
        if entry["checkpoint"] is not None
    ]

    if completed.status_code == HTTPStatus.OK:
        assert refusal(second) == (HTTPStatus.UNPROCESSABLE_ENTITY, "nothing_to_compact")
        assert numbers == [1]
    else:
        assert refusal(completed) == (HTTPStatus.CONFLICT, "compaction_closed")
        assert second.status_code == HTTPStatus.CREATED
        assert numbers == []


class Breaking:
    """Window ids, the last thing that an install needs; while broken there are none."""

    def __init__(self) -> None:
        self.is_broken = False

    def __call__(self) -> str:
        if self.is_broken:
            raise RuntimeError("no window id")
        return "0199f7a8-0000-7000-8000-000000000000"


async def everything(session: SessionApi) -> list[Json]:
    """All that a session tells of itself."""
    prepared = await session.prepare()
    listed = await session.read("compactions")
    return [prepared, listed, await session.read(), *await session.messages()]


async def test_K21_an_install_that_breaks_half_way_leaves_everything_as_it_was(
    module_database_url: str,
) -> None:
    window_id = Breaking()
    async with timed_service(module_database_url, new_window_id=window_id) as timed:
        session = await timed.api.session("K21")
        await session.append(user("Fix the build.", "m1"))
        held = await start(session)
        before = await everything(session)
        window_id.is_broken = True
        with pytest.raises(RuntimeError, match="no window id"):
            await held.complete(summary_of("a lexer"))
        window_id.is_broken = False
        after = await everything(session)
        completed = succeeded(await held.complete(summary_of("a parser")))
        prepared = (await session.prepare())["request"]

        assert after == before
        assert completed["checkpoint"]["sequence"] == 1
        assert summary_of("a parser") in texts(prepared)[1]


async def test_a_reader_sees_the_view_before_or_the_view_after(talk: SessionApi) -> None:
    async def shown() -> list[str]:
        return reasons(await talk.prepare(include=["provenance"]))

    held = await start(talk)
    *seen, _ = await asyncio.gather(*(shown() for _ in range(MANY)), held.complete())

    assert all(view in (["m1", "m2"], AFTER_FOLD) for view in seen)


async def test_a_session_that_is_erased_meanwhile_takes_its_compaction_with_it(
    talk: SessionApi,
) -> None:
    held = await start(talk)
    erased: httpx.Response = await talk.client.delete(f"/v1/sessions/{talk.id}")

    assert erased.status_code == HTTPStatus.NO_CONTENT
    assert refusal(await held.complete()) == (HTTPStatus.NOT_FOUND, "session_not_found")


async def test_a_session_of_the_same_id_knows_nothing_of_the_compactions_before(
    timed: Timed, talk: SessionApi
) -> None:
    await compact(talk)
    await talk.client.delete(f"/v1/sessions/{talk.id}")
    again = await timed.api.session(talk.id)
    await again.append(user("Hello.", "m1"))

    assert (await again.read("compactions"))["items"] == []
    assert reasons(await again.prepare(include=["provenance"])) == ["m1"]
