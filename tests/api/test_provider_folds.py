"""Folds that a provider made of its own context: recorded at once, and replayed to it."""

from http import HTTPStatus
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.api.client import Json, SessionApi, assistant, calls, results, succeeded, user
from tests.api.compacting import (
    POINT,
    Timed,
    compact,
    reasons,
    refusal,
    request_compaction,
    run_turn,
    start,
)
from tests.api.reporting import report, series

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPAQUE: Json = {
    "type": "provider_opaque",
    "driver": "cli",
    "kind": "compaction",
    "payload": {"encrypted": "\x00abc", "n": [1, 1.5, None]},
}
INVALID = (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_boundary")


async def post_fold(session: SessionApi, through: int, **fields: Any) -> httpx.Response:
    body = {"kind": "provider", "through_sequence": through, "opaque": OPAQUE, **fields}
    return await session.post("compactions", body)


async def fold(session: SessionApi, through: int, **fields: Any) -> Json:
    response = await post_fold(session, through, **fields)
    assert response.status_code == HTTPStatus.CREATED, response.text[:1000]
    recorded: Json = response.json()
    return recorded


async def holds(session: SessionApi, through: int | None) -> None:
    context = None
    if through is not None:
        context = {"driver": "cli", "ref": "r", "through_sequence": through}
    path = f"/v1/sessions/{session.id}"
    succeeded(await session.client.patch(path, json={"provider_context": context}))


async def sent(session: SessionApi) -> list[str]:
    return reasons(await session.prepare(include=["provenance"]))


@pytest_asyncio.fixture(loop_scope="module")
async def session(timed: Timed) -> SessionApi:
    """A session of two rounds: m1 to m4."""
    session = await timed.session()
    await session.append(
        user("Fix it.", "m1"), assistant("Done.", "m2"), user("So?", "m3"), assistant("So.", "m4")
    )
    return session


async def test_a_fold_of_the_provider_is_completed_at_once(session: SessionApi) -> None:
    recorded = await fold(session, 2)
    checkpoint = recorded["checkpoint"]

    assert (recorded["status"], recorded["kind"]) == ("completed", "provider")
    assert (recorded["claim"], recorded["source"], recorded["plan_key"]) == (None, None, None)
    assert "summary_request" not in recorded
    assert checkpoint["through_sequence"] == checkpoint["replaced_through_sequence"] == 2
    assert (checkpoint["summary"], checkpoint["runtime_reminder"]) == (None, None)
    assert recorded["tokens"]["before"] > 0
    assert await session.read(f"compactions/{recorded['id']}") == recorded


async def test_one_message_stands_for_the_fold_which_only_the_provider_reads(
    session: SessionApi,
) -> None:
    recorded = await fold(session, 2)
    prepared = await session.prepare(include=["provenance"])

    assert reasons(prepared) == ["provider_fold", "m3", "m4"]
    assert prepared["provenance"][0]["id"] == f"{recorded['id']}:provider"
    assert prepared["request"]["messages"][1] == {"role": "assistant", "content": [OPAQUE]}
    assert [item["covered_by"] for item in await session.messages()] == [
        recorded["id"],
        recorded["id"],
        None,
        None,
    ]
    again = (await session.get(f"prepared/{prepared['prepared_id']}")).json()
    assert again == prepared["request"]


async def test_the_thread_goes_on_and_is_told_nothing_twice(session: SessionApi) -> None:
    await holds(session, 4)
    before = await session.prepare()
    await fold(session, 2)
    after = await session.prepare(append=[user("Go.", "m5")], include=["provenance"])

    assert (await session.read())["provider_context"]["through_sequence"] == 4
    assert reasons(after) == ["m5"]
    assert after["prefix"]["common_messages"] == len(before["request"]["messages"])
    assert after["prefix"]["cause"] is None
    await holds(session, None)
    assert await sent(session) == ["provider_fold", "m3", "m4", "m5"]


async def test_the_window_advances_and_the_series_tells_of_the_fold(session: SessionApi) -> None:
    window = (await session.read())["window"]
    await fold(session, 2, turn_id="t", model_call=1)
    after = await session.read()
    (event,) = await series(session)

    assert after["window"]["number"] == window["number"] + 1
    assert after["window"]["previous_window_id"] == window["window_id"]
    assert (event["event"], event["cause"]) == ("compaction", "provider")
    assert (event["turn_id"], event["model_call"]) == ("t", 1)


async def test_an_equal_repeat_is_the_same_fold(session: SessionApi) -> None:
    recorded = await fold(session, 2)
    version = (await session.read())["version"]
    repeated = await post_fold(session, 2)

    assert (repeated.status_code, repeated.json()) == (HTTPStatus.OK, recorded)
    assert (await session.read())["version"] == version
    assert len((await session.read("compactions"))["items"]) == 1


@pytest.mark.parametrize("through", [0, 1, 2, 5])
async def test_a_fold_of_nothing_that_is_shown_is_refused(
    session: SessionApi, through: int
) -> None:
    await fold(session, 2)
    other = {**OPAQUE, "payload": "another"}
    before = await session.read()
    refused = await post_fold(session, through, opaque=other)

    assert refusal(refused) == INVALID
    assert refused.json()["through_sequence"] == through
    assert await session.read() == before


async def test_what_a_rewind_hid_is_not_folded(session: SessionApi) -> None:
    succeeded(await session.post("rewind", {"through_sequence": 2}))
    await session.append(user("Again.", "m5"))

    recorded = await fold(session, 4)
    assert recorded["checkpoint"]["replaced_through_sequence"] == 4
    assert await sent(session) == ["provider_fold", "m5"]


@pytest.mark.parametrize(
    "body",
    [
        {"opaque": {"type": "text", "text": "a summary"}},
        {"opaque": None},
        {"through_sequence": None},
        {"through_sequence": -1},
        {"instructions": "Keep names."},
        {"run": True},
        {"supersede": True},
        {"phase": "mid_turn"},
        {"kind": "manual"},
    ],
)
async def test_a_fold_is_told_by_its_boundary_and_an_opaque_block(
    session: SessionApi, body: Json
) -> None:
    given = {"kind": "provider", "through_sequence": 2, "opaque": OPAQUE, **body}

    refused = refusal(await session.post("compactions", given))
    assert refused == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request")


async def test_a_fold_in_the_middle_of_a_turn_parts_no_call_from_its_result(
    session: SessionApi,
) -> None:
    await run_turn(session)
    await session.append(calls("c1", "c2", message_id="m5"), results("c2", message_id="m6"))
    await holds(session, 6)
    await fold(session, 6, **POINT)
    answered = await session.append(results("c1", message_id="m7"))
    in_thread = await session.prepare(include=["provenance"])
    await holds(session, None)
    alone = await session.prepare(include=["provenance"])

    assert answered["repairs"] == in_thread["repairs"] == alone["repairs"] == []
    assert reasons(in_thread) == ["m7"]
    assert reasons(alone) == ["provider_fold", "m5", "m7", "m6"]


async def test_a_second_fold_takes_what_the_first_one_left_open(session: SessionApi) -> None:
    await session.append(calls("c1", message_id="m5"))
    await fold(session, 5)
    await session.append(results("c1", message_id="m6"), assistant("Read.", "m7"))
    assert await sent(session) == ["provider_fold", "m5", "m6", "m7"]

    await fold(session, 6)
    assert await sent(session) == ["provider_fold", "m7"]


async def test_a_report_of_the_call_in_which_the_provider_folded_moves_its_thread(
    session: SessionApi,
) -> None:
    prepared = await session.prepare()
    await fold(session, 3)
    await report(
        session,
        prepared_id=prepared["prepared_id"],
        provider_context={"driver": "cli", "ref": "r", "through_sequence": 4},
    )

    assert (await session.read())["provider_context"]["through_sequence"] == 4
    assert [entry["late"] for entry in await series(session)] == [False, True]


async def test_a_fold_of_the_provider_is_not_the_one_compaction_of_a_model_call(
    session: SessionApi,
) -> None:
    await run_turn(session)
    await session.append(user("And now?", "m5"))
    await fold(session, 2, **POINT)

    assert (await start(session, kind="threshold", **POINT)).answer["status"] == "pending"


async def test_a_fold_supersedes_a_compaction_that_is_under_way(session: SessionApi) -> None:
    pending = await start(session)
    await fold(session, 2)

    assert (await pending.read())["status"] == "superseded"


async def test_a_fold_is_undone_rewound_to_and_read_back(session: SessionApi) -> None:
    recorded = await fold(session, 2)
    history = await session.read("history")
    replayed = await session.read("replay", selector=f"compaction:{recorded['id']}")
    succeeded(await session.post("rewind", {"undo_compaction": recorded["id"]}))
    undone = await sent(session)
    succeeded(await session.post("rewind", {"compaction_id": recorded["id"]}))

    assert [item["id"] for item in history["messages"]] == ["m1", "m2"]
    assert [item["content"] for item in replayed["messages"]] == [[OPAQUE]]
    assert undone == ["m1", "m2", "m3", "m4"]
    assert await sent(session) == ["provider_fold"]


async def test_the_runtime_state_of_an_earlier_compaction_outlives_a_fold(
    session: SessionApi,
) -> None:
    before = (await compact(session))["checkpoint"]["runtime_state"]
    await session.append(assistant("More.", "m5"))
    recorded = await fold(session, 5)

    assert recorded["checkpoint"]["runtime_state"] == before


async def test_a_compaction_folds_what_the_provider_made_like_history(
    session: SessionApi,
) -> None:
    await fold(session, 2)
    answer = (await request_compaction(session)).json()
    asked = answer["summary_request"]["messages"]

    assert {"role": "assistant", "content": [OPAQUE]} in asked


async def test_a_fold_stands_in_front_also_where_the_conversation_is_fixed(timed: Timed) -> None:
    session = await timed.session(policy="goose")
    await session.append(
        user("Fix it.", "m1"), assistant("Done.", "m2"), user("So?", "m3"), assistant("So.", "m4")
    )
    await fold(session, 4)
    prepared = await session.prepare(append=[user("Go.", "m5")], include=["provenance"])

    assert reasons(prepared) == ["provider_fold", "m5"]
    assert prepared["repairs"] == []
