"""Rewind over HTTP: show less, or show again; nothing stored is touched."""

from http import HTTPStatus

import pytest

from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    service,
    tool_call,
    tool_result,
    user,
)
from tests.api.compacting import (
    AFTER_FOLD,
    compact,
    put_turn,
    reasons,
    refusal,
    run_turn,
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


async def rewind(session: SessionApi, **target: object) -> Json:
    """A rewind that succeeds."""
    response = await session.post("rewind", target)
    assert response.status_code == HTTPStatus.CREATED, response.text[:1000]
    return dict(response.json())


async def folded(session: SessionApi, summary: str = FIRST) -> str:
    """The id of a compaction of all that is shown."""
    return str((await compact(session, summary))["checkpoint"]["id"])


async def seen(session: SessionApi) -> list[str]:
    """What the next request is made of."""
    return reasons(await session.prepare(include=["provenance"]))


async def covered(session: SessionApi) -> list[str | None]:
    """What hides each stored message."""
    return [stored["covered_by"] for stored in await session.messages()]


@requirement("OW-11-contextual-messages-are-no-request", "OW-11-gap-rewind-injects-once")
async def test_a_checkpoint_is_shown_again_and_what_came_later_is_hidden(
    session: SessionApi,
) -> None:
    target = await folded(session)
    await session.append(user("Now release it.", "m3"), assistant("Released.", "m4"))
    before = await session.prepare()
    stored = await session.messages()
    answer = await rewind(session, compaction_id=target)
    after = await session.prepare(include=["provenance"])
    checkpoint = answer["checkpoint"]

    assert (answer["kind"], answer["status"], answer["parent_compaction_id"]) == (
        "rewind",
        "completed",
        target,
    )
    assert (checkpoint["sequence"], checkpoint["through_sequence"]) == (2, 2)
    assert checkpoint["replaced_through_sequence"] == 4
    assert (checkpoint["summary"], checkpoint["last_user_message_id"]) == (FIRST, "m1")
    assert after["request"]["messages"][1:] == before["request"]["messages"][1:4]
    assert [entry["id"] for entry in after["provenance"]] == [
        f"{answer['id']}:{name}" for name in ("last-user", "summary", "reminder")
    ]
    assert after["prefix"]["cause"] == "rewind"
    assert await session.messages() == [{**kept, "covered_by": answer["id"]} for kept in stored]


async def test_an_older_checkpoint_is_shown_in_place_of_a_newer_one(session: SessionApi) -> None:
    older = await folded(session)
    await session.append(user("Now release it.", "m3"), assistant("Released.", "m4"))
    newer = await folded(session, SECOND)
    await rewind(session, compaction_id=older)
    back = await session.prepare()
    await rewind(session, compaction_id=newer)
    forth = await session.prepare()

    assert texts(back["request"])[0] == "Fix the build."
    assert texts(back["request"])[1].endswith(FIRST)
    assert texts(forth["request"])[0] == "Now release it."
    assert texts(forth["request"])[1].endswith(SECOND)


async def test_what_is_appended_after_a_rewind_follows_it(session: SessionApi) -> None:
    target = await folded(session)
    await session.append(user("Now release it.", "m3"))
    await rewind(session, compaction_id=target)
    await session.append(user("Test it first.", "m4"))
    prepared = await session.prepare(include=["provenance"])
    again = await folded(session, SECOND)

    assert reasons(prepared) == [*AFTER_FOLD, "m4"]
    assert await seen(session) == AFTER_FOLD
    assert await covered(session) == [again] * 4
    assert texts((await session.prepare())["request"])[0] == "Test it first."


async def test_B146_a_rewind_outlives_a_restart(module_database_url: str, talk: SessionApi) -> None:
    target = await folded(talk)
    await talk.append(user("Now release it.", "m3"))
    await rewind(talk, compaction_id=target)
    await talk.append(user("Test it first.", "m4"))
    before = await talk.prepare()
    async with service(module_database_url) as client:
        restarted = SessionApi(client=client, id=talk.id, created=talk.created)
        after = await restarted.prepare(include=["provenance"])

    assert reasons(after) == [*AFTER_FOLD, "m4"]
    assert after["prepared_id"] == before["prepared_id"]
    assert after["request"] == before["request"]


@pytest.mark.parametrize(
    ("through", "cut", "shown"),
    [
        (6, 6, ["m1", "m2", "m3", "m4", "m5", "m6"]),
        (5, 2, ["m1", "m2"]),
        (4, 2, ["m1", "m2"]),
        (3, 2, ["m1", "m2"]),
        (1, 1, ["m1"]),
        (0, 0, []),
    ],
    ids=["after a round", "in its results", "behind its first", "at its calls", "one", "nothing"],
)
async def test_a_sequence_is_cut_where_no_call_is_parted_from_its_result(
    session: SessionApi, through: int, cut: int, shown: list[str]
) -> None:
    await session.append(
        calls("c1", "c2", "c3", message_id="m3"),
        results("c1", message_id="m4"),
        results("c2", message_id="m5"),
        results("c3", message_id="m6"),
        assistant("All read.", "m7"),
    )
    answer = await rewind(session, through_sequence=through)

    assert answer["checkpoint"]["through_sequence"] == cut
    assert answer["checkpoint"]["summary"] is None
    assert await seen(session) == shown


async def test_a_late_result_is_not_parted_from_its_call(session: SessionApi) -> None:
    await session.append(
        message("assistant", [tool_call("c1", state="pending")], "m3"),
        user("And?", "m4"),
        results("c1", message_id="m5"),
    )
    answer = await rewind(session, through_sequence=4)

    assert answer["checkpoint"]["through_sequence"] == 2
    assert await seen(session) == ["m1", "m2"]


async def test_a_sequence_behind_a_fold_keeps_its_summary(session: SessionApi) -> None:
    target = await folded(session)
    await session.append(user("Now release it.", "m3"), assistant("Released.", "m4"))
    answer = await rewind(session, through_sequence=3)

    assert (answer["parent_compaction_id"], answer["checkpoint"]["through_sequence"]) == (target, 3)
    assert await seen(session) == [*AFTER_FOLD, "m3"]
    assert await covered(session) == [answer["id"], answer["id"], None, answer["id"]]


async def test_B145_a_sequence_before_a_fold_shows_the_messages_and_keeps_the_summary(
    session: SessionApi,
) -> None:
    await session.append(user("Now release it.", "m3"), assistant("Released.", "m4"))
    target = await folded(session)
    await rewind(session, through_sequence=2)
    crossed = await seen(session)
    await rewind(session, compaction_id=target)

    assert crossed == ["m1", "m2"]
    assert await seen(session) == AFTER_FOLD
    assert (await session.read(f"compactions/{target}"))["status"] == "completed"
    assert len(await session.messages()) == 4


async def test_an_undo_shows_what_a_compaction_folded(session: SessionApi) -> None:
    before = await session.prepare()
    target = await folded(session)
    await session.prepare()
    await session.append(user("Now release it.", "m3"))
    answer = await rewind(session, undo_compaction=target)
    after = await session.prepare(include=["provenance"])

    assert (answer["kind"], answer["parent_compaction_id"]) == ("rewind", target)
    assert reasons(after) == ["m1", "m2", "m3"]
    assert after["request"]["messages"][:3] == before["request"]["messages"]
    assert after["prefix"]["cause"] == "rewind"
    assert await covered(session) == [None, None, None]


async def test_an_undo_can_be_undone(session: SessionApi) -> None:
    target = await folded(session)
    await session.append(user("Now release it.", "m3"))
    shown = await session.prepare()
    undo = await rewind(session, undo_compaction=target)
    await rewind(session, undo_compaction=undo["id"])
    again = await session.prepare(include=["provenance"])

    assert again["request"] == shown["request"]
    assert [entry.get("id") for entry in again["provenance"]][:3] == [
        f"{target}:{name}" for name in ("last-user", "summary", "reminder")
    ]


async def test_a_rewind_to_a_sequence_can_be_undone(session: SessionApi) -> None:
    await session.append(user("Now release it.", "m3"))
    answer = await rewind(session, through_sequence=1)
    await session.append(assistant("Which build?", "m4"))
    narrow = await seen(session)
    await rewind(session, undo_compaction=answer["id"])

    assert narrow == ["m1", "m4"]
    assert await seen(session) == ["m1", "m2", "m3", "m4"]


async def test_only_the_view_that_is_shown_can_be_undone(session: SessionApi) -> None:
    first = await folded(session)
    await session.append(user("Now release it.", "m3"))
    second = await folded(session, SECOND)
    response = await session.post("rewind", {"undo_compaction": first})
    await rewind(session, undo_compaction=second)
    await session.append(user("Test it first.", "m4"))
    one_back = await seen(session)

    assert refusal(response) == (HTTPStatus.CONFLICT, "compaction_not_current")
    assert response.json()["compaction_id"] == first
    assert one_back == [*AFTER_FOLD, "m3", "m4"]


async def test_B148_a_fold_after_a_reset_does_not_open_what_was_discarded(
    session: SessionApi,
) -> None:
    await session.append(user("A secret plan.", "m3"))
    await rewind(session, through_sequence=0)
    await session.append(user("Start over.", "m4"), assistant("Ready.", "m5"))
    held = await start(session)
    await held.complete(FIRST)
    replayed = await session.read("replay")

    assert texts(held.answer["summary_request"])[:-1] == ["Start over.", "Ready."]
    assert await seen(session) == AFTER_FOLD
    assert "secret" not in str(replayed)
    assert (await session.read("messages/m3"))["content"] == [
        {"type": "text", "text": "A secret plan."}
    ]


async def test_B149_ids_and_sequences_never_change(session: SessionApi) -> None:
    target = await folded(session)
    await session.append(user("Now release it.", "m3"))
    await rewind(session, through_sequence=1)
    await session.append(user("Test it first.", "m4"))
    await folded(session, SECOND)
    await rewind(session, compaction_id=target)

    assert [(kept["sequence"], kept["id"]) for kept in await session.messages()] == [
        (1, "m1"),
        (2, "m2"),
        (3, "m3"),
        (4, "m4"),
    ]
    assert (await session.read("messages/m1"))["covered_by"] is not None


@pytest.mark.parametrize("base", ["none yet", "the one before"])
async def test_B151_an_answer_to_a_view_that_was_replaced_is_refused(
    session: SessionApi, base: str
) -> None:
    first = await folded(session)
    await session.append(user("Now release it.", "m3"))
    second = await folded(session, SECOND)
    late = [assistant("Half an answer", "m4")]
    given = {"base_compaction_id": first if base == "the one before" else "compaction-0"}
    refused = await session.post("messages", {"messages": late, **given})
    taken = await session.append(*late, base_compaction_id=second)
    again = await session.append(*late, **given)

    assert refusal(refused) == (HTTPStatus.CONFLICT, "history_replaced")
    assert taken["message_count"] == again["message_count"] == 4


async def test_what_a_rewind_hides_is_not_spoken_for_by_a_later_fold(session: SessionApi) -> None:
    await session.append(user("Now release it.", "m3"), assistant("Released.", "m4"))
    await rewind(session, through_sequence=2)
    answer = await compact(session)
    hidden = await rewind(session, through_sequence=3)

    assert answer["checkpoint"]["through_sequence"] == 2
    assert answer["checkpoint"]["replaced_through_sequence"] == 4
    assert hidden["checkpoint"]["summary"] is None
    assert await seen(session) == ["m1", "m2", "m3"]


async def test_state_is_derived_anew_and_the_plan_is_carried_over(session: SessionApi) -> None:
    plan = {"explanation": None, "steps": [{"step": "release", "status": "pending"}]}
    await run_turn(session, plan=plan)
    target = (await compact(session, kind="threshold", turn_id="t", model_call=1))["checkpoint"]
    await put_turn(session, status="completed")
    change = {"kind": "file_change", "payload": {"path": "src/a.rs", "undone": False}}
    edited = message("tool", [tool_result("c1", artifacts=[change])], "m4")
    await session.append(calls("c1", message_id="m3"), edited)
    checkpoint = (await rewind(session, compaction_id=target["id"]))["checkpoint"]

    assert target["runtime_state"]["edited_paths"] == []
    assert checkpoint["runtime_state"]["edited_paths"] == ["src/a.rs"]
    assert checkpoint["runtime_state"]["extensions"] == target["runtime_state"]["extensions"]
    assert checkpoint["runtime_reminder"] == (
        '<system_reminder format_version="1">\n## Current plan\n- [pending] release\n'
        "</system_reminder>"
    ).replace("## Current", "## Edited paths\n- src/a.rs\n\n## Current")


async def test_a_rewind_begins_a_new_window_and_a_new_version(session: SessionApi) -> None:
    before = await session.read()
    await rewind(session, through_sequence=1)
    after = await session.read()

    assert after["window"]["number"] == before["window"]["number"] + 1
    assert after["window"]["previous_window_id"] == before["window"]["window_id"]
    assert after["version"] == before["version"] + 1


async def test_a_running_turn_refuses_a_rewind(session: SessionApi) -> None:
    await run_turn(session)
    response = await session.post("rewind", {"through_sequence": 1})

    assert refusal(response) == (HTTPStatus.CONFLICT, "session_active")
    assert response.json()["detail"] == ("session has an active turn and cannot be rewound: t")
    assert await seen(session) == ["m1", "m2"]


async def test_a_view_without_a_summary_cannot_be_restored(session: SessionApi) -> None:
    pending = (await start(session)).id
    first = await session.post("rewind", {"compaction_id": pending})
    answer = await rewind(session, through_sequence=1)
    second = await session.post("rewind", {"compaction_id": answer["id"]})

    assert refusal(first) == (HTTPStatus.UNPROCESSABLE_ENTITY, "compaction_not_restorable")
    assert refusal(second) == refusal(first)
    assert second.json()["detail"] == (
        "conversation compaction cannot be restored because it has no last user anchor: "
        + answer["id"]
    )


@pytest.mark.parametrize("field", ["compaction_id", "undo_compaction"])
async def test_a_compaction_that_is_not_there_is_not_found(session: SessionApi, field: str) -> None:
    response = await session.post("rewind", {field: "compaction-0"})

    assert refusal(response) == (HTTPStatus.NOT_FOUND, "compaction_not_found")
    assert response.json()["detail"] == "conversation compaction not found: compaction-0"


async def test_a_sequence_that_is_not_there_is_refused(session: SessionApi) -> None:
    response = await session.post("rewind", {"through_sequence": 3})

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_boundary")
    assert response.json()["through_sequence"] == 3


@pytest.mark.parametrize(
    "target",
    [{}, {"through_sequence": 1, "compaction_id": "c"}, {"through_sequence": -1}],
    ids=["none", "two", "negative"],
)
async def test_a_rewind_has_exactly_one_target(session: SessionApi, target: Json) -> None:
    response = await session.post("rewind", target)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request")
    assert (await session.read())["window"]["number"] == 0
