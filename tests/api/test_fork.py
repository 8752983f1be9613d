"""Fork over HTTP: a session of its own with the history of another one up to a legal cut."""

from http import HTTPStatus
from itertools import count

import httpx
import pytest

from tests.api.captures import INSTRUCTIONS_ID, REPLACES_INSTRUCTIONS, rendered, rules, told
from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    succeeded,
    tool_call,
    tool_result,
    user,
)
from tests.api.compacting import (
    AFTER_FOLD,
    LINE,
    Timed,
    compact,
    reasons,
    refusal,
    run_turn,
    start,
    summary_of,
    texts,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

_NUMBERS = count(1)


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session of m1, the user's, and m2, the model's."""
    return talk


async def ask(session: SessionApi, **fields: object) -> httpx.Response:
    return await session.post("fork", fields)


async def fork(session: SessionApi, **fields: object) -> SessionApi:
    """A new fork of a session."""
    response = await ask(session, **{"id": f"fork-{next(_NUMBERS)}", **fields})
    assert response.status_code == HTTPStatus.CREATED, response.text[:1000]
    created = response.json()
    return SessionApi(client=session.client, id=created["id"], created=created)


async def seen(session: SessionApi) -> list[str]:
    """What the next request is made of."""
    return reasons(await session.prepare(include=["provenance"]))


async def test_a_fork_is_a_session_of_its_own_with_the_same_history(session: SessionApi) -> None:
    forked = await fork(session)
    source = await session.read()
    same = ("model", "model_profile", "policy", "agent_ref", "metadata", "message_count")

    assert forked.created["forked_from"] == {"session_id": session.id, "through_sequence": 2}
    assert forked.created["parent_session_id"] is None
    assert {name: forked.created[name] for name in same} == {name: source[name] for name in same}
    assert forked.created["incarnation"] != source["incarnation"]
    assert forked.created["window"]["number"] == 0
    assert forked.created["window"]["window_id"] != source["window"]["window_id"]
    assert (await forked.prepare())["request"] == (await session.prepare())["request"]
    assert [(kept["id"], kept["sequence"]) for kept in await forked.messages()] == [
        ("m1", 1),
        ("m2", 2),
    ]


async def test_a_fork_and_its_source_go_on_apart(session: SessionApi) -> None:
    forked = await fork(session)
    await forked.append(user("In the fork.", "m3"))
    await session.append(user("In the source.", "m3"))

    assert texts((await forked.prepare())["request"])[-1] == "In the fork."
    assert texts((await session.prepare())["request"])[-1] == "In the source."


async def test_a_fork_without_an_id_gets_one(session: SessionApi) -> None:
    first = succeeded(await ask(session))
    second = succeeded(await ask(session))

    assert first["id"] != second["id"]
    assert first["forked_from"] == second["forked_from"]


@pytest.mark.parametrize(
    ("through", "cut"),
    [(5, 5), (4, 2), (3, 2), (2, 2), (1, 1), (0, 0)],
    ids=["whole round", "in its results", "at its calls", "before it", "one", "nothing"],
)
async def test_a_fork_is_cut_where_no_call_is_parted_from_its_result(
    session: SessionApi, through: int, cut: int
) -> None:
    await session.append(
        calls("c1", "c2", message_id="m3"),
        results("c1", message_id="m4"),
        results("c2", message_id="m5"),
        assistant("Read.", "m6"),
    )
    forked = await fork(session, through_sequence=through)

    assert forked.created["forked_from"]["through_sequence"] == cut
    assert forked.created["message_count"] == cut
    assert await seen(forked) == ["m1", "m2", "m3", "m4", "m5", "m6"][:cut]


async def test_a_call_that_waits_can_be_answered_in_each_of_both(session: SessionApi) -> None:
    await session.append(message("assistant", [tool_call("c1", state="pending")], "m3"))
    forked = await fork(session)
    await session.append(results("c1", message_id="m4"))
    waiting = (await forked.read())["resume"]["unresolved_tool_calls"]
    await forked.append(message("tool", [tool_result("c1", "denied", state="denied")], "m4"))

    assert waiting == [{"id": "c1", "name": "read", "message_id": "m3"}]
    assert (await forked.read())["resume"]["unresolved_tool_calls"] == []
    assert await seen(forked) == ["m1", "m2", "m3", "m4"]


async def test_a_checkpoint_in_front_of_the_cut_comes_along(session: SessionApi) -> None:
    target = (await compact(session))["checkpoint"]["id"]
    await session.append(user("Now release it.", "m3"), assistant("Released.", "m4"))
    forked = await fork(session, through_sequence=3)
    told_of = await forked.read("history")

    assert forked.created["latest_compaction_id"] == target
    assert await seen(forked) == [*AFTER_FOLD, "m3"]
    assert [kept["covered_by"] for kept in await forked.messages()] == [target, target, None]
    assert [kept["id"] for kept in told_of["messages"]] == ["m1", "m2"]


async def test_a_checkpoint_behind_the_cut_stays_away(session: SessionApi) -> None:
    first = (await compact(session))["checkpoint"]["id"]
    await session.append(user("Now release it.", "m3"), assistant("Released.", "m4"))
    second = (await compact(session, summary_of("the release")))["checkpoint"]["id"]
    before = await fork(session, through_sequence=3)
    at = await fork(session, through_sequence=4)
    whole = await fork(session, through_sequence=1)

    assert before.created["latest_compaction_id"] == first
    assert await seen(before) == [*AFTER_FOLD, "m3"]
    assert at.created["latest_compaction_id"] == second
    assert await seen(at) == AFTER_FOLD
    assert whole.created["latest_compaction_id"] is None
    assert await seen(whole) == ["m1"]
    assert refusal(await before.get(f"compactions/{second}")) == (
        HTTPStatus.NOT_FOUND,
        "compaction_not_found",
    )


async def test_a_fork_compacts_by_itself(session: SessionApi) -> None:
    await compact(session)
    await session.append(user("Now release it.", "m3"))
    forked = await fork(session)
    answer = await compact(forked, summary_of("the release"))
    undone = await forked.post("rewind", {"undo_compaction": answer["checkpoint"]["id"]})

    assert answer["checkpoint"]["sequence"] == 2
    assert answer["window"]["number"] == 1
    assert undone.status_code == HTTPStatus.CREATED
    assert await seen(forked) == [*AFTER_FOLD, "m3"]
    assert await seen(session) == [*AFTER_FOLD, "m3"]


async def test_a_compaction_under_way_stays_with_its_session(session: SessionApi) -> None:
    held = await start(session)
    forked = await fork(session)
    answer = (await held.complete()).json()

    assert (await forked.read())["resume"]["open_compaction_id"] is None
    assert (await forked.read("compactions"))["items"] == []
    assert answer["status"] == "completed"
    assert await seen(forked) == ["m1", "m2"]


async def test_a_rewound_session_is_forked_as_it_is_shown(session: SessionApi) -> None:
    await session.append(user("Now release it.", "m3"))
    await session.post("rewind", {"through_sequence": 1})
    await session.append(user("Test it first.", "m4"))
    forked = await fork(session)
    earlier = await fork(session, through_sequence=2)

    assert await seen(forked) == ["m1", "m4"]
    assert await seen(earlier) == ["m1", "m2"]


async def test_the_watermark_comes_along_as_far_as_the_cut(timed: Timed) -> None:
    session = await timed.session(model_profile=LINE)
    read = message("tool", [tool_result("c1", "long " * 2_400)], "m3")
    await session.append(user("Read."), calls("c1"), read, assistant("Read.", "m4"))
    pruned = (await session.prepare())["pruned"]
    whole = await fork(session)
    short = await fork(session, through_sequence=1)

    assert pruned == {"through_sequence": 4, "tool_results": 1}
    assert whole.created["pruned_through_sequence"] == 4
    assert short.created["pruned_through_sequence"] == 1
    assert (await whole.prepare())["pruned"] == pruned


async def test_the_baseline_is_what_the_copied_messages_tell(timed: Timed) -> None:
    session = await timed.session()
    await session.sample(rules("one"))
    await session.sample(rules("two"), model_call=2)
    whole = await fork(session)
    early = await fork(session, through_sequence=1)
    never = await fork(session, through_sequence=0)
    same = await whole.sample(rules("two"), model_call=3)
    changed = await early.sample(rules("two"), model_call=3)
    first = await never.sample(rules("two"), model_call=3)

    assert told(same) == []
    assert told(changed) == [f"{REPLACES_INSTRUCTIONS}\n\n{rendered('two')}"]
    assert told(first) == [rendered("two")]
    assert [entry["message_id"] for entry in (await early.read("world-state"))["sections"]] == [
        f"world-state:t:3:1:{INSTRUCTIONS_ID}"
    ]


async def test_a_sample_that_was_copied_is_not_told_twice_under_one_id(timed: Timed) -> None:
    session = await timed.session()
    await session.sample(rules("one"))
    forked = await fork(session)
    again = await forked.sample(rules("two"))
    repeated = await forked.sample(rules("two"))
    known = (await forked.read("world-state"))["sections"]
    following = await forked.sample(rules("two"), model_call=2)

    assert (told(again), again["replayed"]) == ([], False)
    assert (told(repeated), repeated["replayed"]) == ([], True)
    assert [entry["baseline"] for entry in known] == [{"state": "known", "text": rendered("one")}]
    assert told(following) == [f"{REPLACES_INSTRUCTIONS}\n\n{rendered('two')}"]


async def test_a_running_turn_stays_with_its_session(session: SessionApi) -> None:
    await run_turn(session)
    forked = await fork(session)
    turn = await run_turn(forked, "other")

    assert forked.created["current_turn_id"] is None
    assert turn["status"] == "running"
    assert (await session.read())["current_turn_id"] == "t"


async def test_the_same_fork_again_is_the_fork_that_is_there(session: SessionApi) -> None:
    forked = await fork(session, id=f"{session.id}-fork")
    await session.append(user("Now release it.", "m3"))
    await forked.append(user("In the fork.", "m3"))
    response = await ask(session, id=forked.id)

    assert response.status_code == HTTPStatus.OK
    assert response.json()["incarnation"] == forked.created["incarnation"]
    assert response.json()["message_count"] == 3


async def test_an_id_that_is_taken_by_another_session_is_a_conflict(
    timed: Timed, session: SessionApi
) -> None:
    forked = await fork(session, through_sequence=2)
    other = await timed.session()
    another_cut = await ask(session, id=forked.id, through_sequence=1)
    another_source = await ask(other, id=forked.id, through_sequence=0)
    itself = await ask(session, id=session.id)

    for response in (another_cut, another_source, itself):
        assert refusal(response) == (HTTPStatus.CONFLICT, "session_conflict")
        assert response.json()["differs"] == ["forked_from"]


async def test_a_fork_outlives_its_source(session: SessionApi) -> None:
    await compact(session)
    await session.append(user("Now release it.", "m3"))
    forked = await fork(session)
    await session.client.delete(f"/v1/sessions/{session.id}")

    assert await seen(forked) == [*AFTER_FOLD, "m3"]
    assert [kept["id"] for kept in await forked.messages()] == ["m1", "m2", "m3"]
    assert (await forked.read())["forked_from"]["session_id"] == session.id


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"through_sequence": 3}, HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_boundary"),
        ({"through_sequence": -1}, HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request"),
        ({"id": "no such id!"}, HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_id"),
        ({"parent": "s"}, HTTPStatus.UNPROCESSABLE_ENTITY, "unknown_field"),
    ],
)
async def test_a_fork_that_cannot_be_is_refused(
    session: SessionApi, fields: Json, status: HTTPStatus, code: str
) -> None:
    assert refusal(await ask(session, **fields)) == (status, code)


async def test_a_session_that_is_not_there_cannot_be_forked(session: SessionApi) -> None:
    response = await session.client.post("/v1/sessions/nobody/fork", json={})

    assert refusal(response) == (HTTPStatus.NOT_FOUND, "session_not_found")
