"""Reading back over HTTP: what a checkpoint covers, and what a session shows or showed."""

from http import HTTPStatus

import pytest

from tests.api.client import Json, SessionApi, assistant, message, tool_call, tool_result, user
from tests.api.client import calls as tool_calls
from tests.api.compacting import (
    AFTER_FOLD,
    Timed,
    compact,
    reasons,
    refusal,
    start,
    summary_of,
    texts,
)
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

FIRST = summary_of("the build")
SECOND = summary_of("the release")


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session of m1, the user's, and m2, the model's."""
    return talk


async def folded(session: SessionApi, summary: str = FIRST) -> str:
    """The id of a compaction of all that is shown."""
    return str((await compact(session, summary))["checkpoint"]["id"])


def ids(page: Json) -> list[str]:
    return [shown["id"] for shown in page["messages"]]


def virtual(compaction_id: str) -> list[str]:
    """The ids of the three items of a checkpoint."""
    return [f"{compaction_id}:{name}" for name in ("last-user", "summary", "reminder")]


@requirement("OW-5-conversation-history-tool")
async def test_a_history_page_is_cut_between_messages(session: SessionApi) -> None:
    await session.append(*(user(f"part {number}", f"m{number}") for number in range(3, 8)))
    target = await folded(session)
    await session.append(user("later", "m8"))
    first = await session.read("history", limit=3)
    second = await session.read("history", limit=3, after_sequence=first["next_after_sequence"])
    last = await session.read("history", limit=3, after_sequence=second["next_after_sequence"])

    assert (first["session_id"], first["compaction_id"]) == (session.id, target)
    assert first["through_message_sequence"] == 7
    assert [ids(page) for page in (first, second, last)] == [
        ["m1", "m2", "m3"],
        ["m4", "m5", "m6"],
        ["m7"],
    ]
    assert [page["has_more"] for page in (first, second, last)] == [True, True, False]
    assert [page["next_after_sequence"] for page in (first, second, last)] == [3, 6, None]


async def test_a_history_page_that_ends_the_history_has_no_next_one(session: SessionApi) -> None:
    await folded(session)
    exact = await session.read("history", limit=2)
    past = await session.read("history", after_sequence=2)

    assert (ids(exact), exact["has_more"], exact["next_after_sequence"]) == (
        ["m1", "m2"],
        False,
        None,
    )
    assert (ids(past), past["has_more"], past["next_after_sequence"]) == ([], False, None)


async def test_the_history_is_whole_however_long_its_messages_are(session: SessionApi) -> None:
    long = message("tool", [tool_result("c1", "x" * 200_000, name="read")], "m4")
    await session.append(tool_calls("c1", message_id="m3"), long)
    await folded(session)
    page = await session.read("history", after_sequence=3)
    original = await session.read("messages/m4")

    assert page["messages"] == [original]
    assert original["content"] == [
        {**tool_result("c1", "x" * 200_000), "name": "read", "state": "success"}
    ]
    assert original["covered_by"] == page["compaction_id"]


async def test_an_older_checkpoint_covers_less(session: SessionApi) -> None:
    first = await folded(session)
    await session.append(user("Now release it.", "m3"))
    second = await folded(session, SECOND)

    assert ids(await session.read("history", compaction_id=first)) == ["m1", "m2"]
    assert ids(await session.read("history", compaction_id=second)) == ["m1", "m2", "m3"]
    assert ids(await session.read("history")) == ["m1", "m2", "m3"]


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ({"limit": 0}, "limit must be between 1 and 50"),
        ({"limit": 51}, "limit must be between 1 and 50"),
        ({"after_sequence": -1}, "after_sequence must be non-negative"),
        ({"after_sequence": 2**63}, "after_sequence must be below 2^63"),
    ],
)
async def test_K37_a_page_that_cannot_be_is_refused(
    session: SessionApi, query: Json, detail: str
) -> None:
    response = await session.get("history", **query)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_page")
    assert response.json()["detail"] == detail


async def test_K37_a_session_that_was_never_compacted_has_nothing_to_read_back(
    session: SessionApi,
) -> None:
    await start(session)
    response = await session.get("history")

    assert refusal(response) == (HTTPStatus.NOT_FOUND, "no_compaction")
    assert response.json()["detail"] == "session has no conversation compaction to read back"


async def test_K37_a_page_may_have_fifty_messages_and_has_twenty(session: SessionApi) -> None:
    await session.append(*(user(f"part {number}") for number in range(60)))
    await folded(session)

    assert len((await session.read("history"))["messages"]) == 20
    assert len((await session.read("history", limit=50))["messages"]) == 50


@pytest.mark.parametrize("path", ["history", "replay"])
async def test_a_compaction_that_is_not_there_is_not_found(session: SessionApi, path: str) -> None:
    name = "compaction-0"
    query = {"compaction_id": name} if path == "history" else {"selector": f"compaction:{name}"}

    assert refusal(await session.get(path, **query)) == (
        HTTPStatus.NOT_FOUND,
        "compaction_not_found",
    )


@pytest.mark.parametrize(
    "path", ["history", "replay", "compactions", "compactions/compaction-0", "turns"]
)
async def test_an_unknown_parameter_is_refused(session: SessionApi, path: str) -> None:
    response = await session.get(path, compactionId="c")

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "unknown_field")


async def test_the_latest_replay_is_what_the_next_request_shows(session: SessionApi) -> None:
    target = await folded(session)
    await session.append(user("Now release it.", "m3", turn_id="t"))
    replayed = await session.read("replay")
    prepared = await session.prepare()
    shown = [{"role": kept["role"], "content": kept["content"]} for kept in replayed["messages"]]
    timeless = [kept["id"] for kept in replayed["messages"] if kept["created_at"] is None]

    assert (replayed["selector"], replayed["checkpoint_id"]) == ("latest", target)
    assert replayed["through_message_sequence"] == 3
    assert shown == prepared["request"]["messages"][1:]
    assert ids(replayed) == [*virtual(target), "m3"]
    assert [kept["sequence"] for kept in replayed["messages"]] == [2, 2, 2, 3]
    assert [kept["turn_id"] for kept in replayed["messages"]] == [None, None, None, "t"]
    assert [kept["message_kind"] for kept in replayed["messages"]] == ["normal"] * 4
    assert timeless == virtual(target)


async def test_a_session_that_was_never_compacted_is_replayed_whole(session: SessionApi) -> None:
    replayed = await session.read("replay", selector="latest")

    assert (replayed["checkpoint_id"], replayed["through_message_sequence"]) == (None, 2)
    assert ids(replayed) == ["m1", "m2"]


async def test_a_checkpoint_is_replayed_alone(session: SessionApi) -> None:
    first = await folded(session)
    await session.append(user("Now release it.", "m3"))
    await folded(session, SECOND)
    replayed = await session.read("replay", selector=f"compaction:{first}")

    assert replayed["through_message_sequence"] == 2
    assert ids(replayed) == virtual(first)
    assert texts(replayed)[1].endswith(FIRST)


@pytest.mark.parametrize(
    ("through", "shown"),
    [
        (0, []),
        (1, ["m1"]),
        (2, ["first"]),
        (3, ["first", "m3"]),
        (4, ["second"]),
        (5, ["second", "m5"]),
    ],
)
async def test_a_session_is_replayed_as_it_was_at_a_sequence(
    session: SessionApi, through: int, shown: list[str]
) -> None:
    first = await folded(session)
    await session.append(user("Now release it.", "m3"), assistant("Released.", "m4"))
    second = await folded(session, SECOND)
    await session.append(user("Thanks.", "m5"))
    items = {"first": virtual(first), "second": virtual(second)}
    replayed = await session.read("replay", selector=f"through:{through}")

    assert replayed["through_message_sequence"] == through
    assert replayed["checkpoint_id"] == (
        {"first": first, "second": second}.get(shown[0]) if shown else None
    )
    assert ids(replayed) == [id_ for name in shown for id_ in items.get(name, [name])]


async def test_a_view_that_covers_less_than_one_before_it_is_the_newest_all_the_same(
    session: SessionApi,
) -> None:
    first = await folded(session)
    await session.append(
        user("Now release it.", "m3"),
        message("assistant", [tool_call("c1", state="pending")], "m4"),
        assistant("It takes a while.", "m5"),
    )
    undone = await session.post("rewind", {"undo_compaction": first})
    second = await folded(session, SECOND)
    replayed = {n: ids(await session.read("replay", selector=f"through:{n}")) for n in (2, 4, 5)}
    forked = await session.post("fork", {"id": f"{session.id}-fork"})
    fork = SessionApi(client=session.client, id=forked.json()["id"], created=forked.json())

    assert undone.json()["checkpoint"]["replaced_through_sequence"] == 5
    assert replayed == {
        2: virtual(first),
        4: [*virtual(first), "m3", "m4"],
        5: [*virtual(second), "m4", "m5"],
    }
    assert ids(await session.read("replay")) == replayed[5]
    assert ids(await fork.read("replay")) == replayed[5]


async def test_B146_a_replay_never_shows_what_a_summary_replaced(session: SessionApi) -> None:
    await folded(session)
    await session.append(user("Now release it.", "m3"))
    await session.post("rewind", {"through_sequence": 2})
    await session.append(user("Test it first.", "m4"))
    replayed = await session.read("replay")
    prepared = await session.prepare(include=["provenance"])

    assert reasons(prepared) == [*AFTER_FOLD, "m4"]
    assert texts(replayed) == texts(prepared["request"])
    assert "Now release it." not in texts(replayed)


async def test_a_replay_is_not_shortened_and_runs_nothing(session: SessionApi) -> None:
    await session.append(
        tool_calls("c1", message_id="m3"), message("tool", [tool_result("c1", "x" * 50_000)], "m4")
    )
    before = await session.read()
    replayed = await session.read("replay")

    assert replayed["messages"][-1]["content"] == (await session.read("messages/m4"))["content"]
    assert (await session.read())["version"] == before["version"]


@pytest.mark.parametrize(
    "selector",
    ["", "first", "through:", "through:-1", "through:one", "compaction:", "compaction:a b"],
)
async def test_a_selector_that_names_nothing_is_refused(session: SessionApi, selector: str) -> None:
    response = await session.get("replay", selector=selector)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request")


async def test_a_sequence_that_is_not_there_yet_is_refused(session: SessionApi) -> None:
    response = await session.get("replay", selector="through:3")

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_boundary")


async def test_a_view_without_a_summary_has_no_checkpoint_to_replay(session: SessionApi) -> None:
    await session.post("rewind", {"through_sequence": 1})
    made = (await session.read("compactions"))["items"][0]["id"]
    response = await session.get("replay", selector=f"compaction:{made}")

    assert refusal(response) == (HTTPStatus.NOT_FOUND, "no_compaction")


@pytest.mark.parametrize("path", ["history", "replay"])
async def test_a_session_that_is_not_there_is_not_found(timed: Timed, path: str) -> None:
    nobody = SessionApi(client=timed.api.client, id="nobody", created={})

    assert refusal(await nobody.get(path)) == (HTTPStatus.NOT_FOUND, "session_not_found")
