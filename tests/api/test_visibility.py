"""Visibility over HTTP: boundaries hide and show messages, and edit nothing."""

import asyncio
from http import HTTPStatus

import httpx
import pytest

from tests.api.captures import rendered, rules, told
from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    succeeded,
    tool_call,
    user,
)
from tests.api.compacting import (
    AFTER_FOLD,
    Timed,
    compact,
    reasons,
    refusal,
    request_compaction,
    start,
    summary_of,
    texts,
)
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = 10
ABSENT = {"agent_visible": False}
HIDDEN: Json = {"agent_visible": False, "user_visible": False}


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session of m1, the user's, and m2, the model's."""
    return talk


async def ask(session: SessionApi, message_id: str, body: object) -> httpx.Response:
    return await session.post(f"messages/{message_id}/visibility", body)


async def show(session: SessionApi, message_id: str, **flags: bool) -> Json:
    """The message as it stands after a change."""
    return succeeded(await ask(session, message_id, flags))


def flags(kept: Json) -> tuple[bool, bool]:
    """Whether the model sees a message, and whether people do."""
    return kept["agent_visible"], kept["user_visible"]


async def listed(session: SessionApi, **query: bool) -> list[str]:
    return [kept["id"] for kept in (await session.read("messages", **query))["items"]]


async def replayed(session: SessionApi, view: str, **query: str) -> list[tuple[str, bool, bool]]:
    """Id and flags of each message of a view."""
    answer = await session.read("replay", view=view, **query)
    return [(kept["id"], *flags(kept)) for kept in answer["messages"]]


async def shown(session: SessionApi) -> list[str]:
    """What the next request is made of."""
    return reasons(await session.prepare(include=["provenance"]))


async def test_a_message_is_hidden_from_the_model_and_shown_again(session: SessionApi) -> None:
    before = await session.prepare()
    original = await session.read("messages/m1")
    version = (await session.read())["version"]
    hidden = await show(session, "m1", agent_visible=False)
    without = await session.prepare(include=["provenance"])
    again = await show(session, "m1", agent_visible=True)
    after = await session.prepare()

    assert hidden == {**original, "agent_visible": False, "version": version + 1}
    assert reasons(without) == ["m2"]
    assert again == {**original, "version": version + 2}
    assert after["request"] == before["request"]
    assert after["prepared_id"] == before["prepared_id"]


@requirement("GO-7.1-agent-visible-decides", "GO-7.1-user-visible-is-for-people")
async def test_each_flag_is_changed_by_itself(session: SessionApi) -> None:
    for wanted, left in (
        ({"user_visible": False}, (True, False)),
        ({"agent_visible": False}, (False, False)),
        ({"user_visible": True}, (False, True)),
        ({"agent_visible": True, "user_visible": False}, (True, False)),
        ({"agent_visible": None, "user_visible": True}, (True, True)),
    ):
        changed = succeeded(await ask(session, "m1", wanted))
        kept = await session.read("messages/m1")

        assert flags(changed) == flags(kept) == left
        assert await shown(session) == (["m1", "m2"] if left[0] else ["m2"])


async def test_a_message_that_was_appended_hidden_can_be_shown(session: SessionApi) -> None:
    await session.append(user("Aside.", "m3", **HIDDEN))
    before = await shown(session)
    await show(session, "m3", agent_visible=True, user_visible=True)

    assert before == ["m1", "m2"]
    assert await shown(session) == ["m1", "m2", "m3"]
    assert await listed(session, user_visible=False) == []


async def test_a_change_that_changes_nothing_moves_no_version(session: SessionApi) -> None:
    first = await show(session, "m2", agent_visible=False)
    state = await session.read()
    again = await show(session, "m2", agent_visible=False, user_visible=True)

    assert again == first
    assert await session.read() == state
    assert state["version"] == first["version"]


async def test_a_message_id_may_hold_slashes(session: SessionApi) -> None:
    await session.append(user("One.", "a/visibility"), user("Two.", "a"))
    changed = await show(session, "a/visibility", agent_visible=False)

    assert changed["id"] == "a/visibility"
    assert await shown(session) == ["m1", "m2", "a"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_request"),
        ({"agent_visible": None}, "invalid_request"),
        ({"agent_visible": 0}, "invalid_request"),
        ({"user_visible": "no"}, "invalid_request"),
        ({"agent_visible": False, "kind": "normal"}, "unknown_field"),
        ([], "invalid_request"),
    ],
)
async def test_a_body_that_is_no_change_is_refused(
    session: SessionApi, body: object, code: str
) -> None:
    response = await ask(session, "m1", body)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, code)
    assert flags(await session.read("messages/m1")) == (True, True)


@pytest.mark.parametrize("message_id", ["m9", "a/b", "m1/visibility", "m%001", "x" * 2_000])
async def test_a_message_that_is_not_there_is_not_found(
    session: SessionApi, message_id: str
) -> None:
    response = await ask(session, message_id, ABSENT)

    assert refusal(response) == (HTTPStatus.NOT_FOUND, "message_not_found")


async def test_a_session_that_is_not_there_is_not_found(timed: Timed) -> None:
    nobody = SessionApi(client=timed.api.client, id="nobody", created={})

    assert refusal(await ask(nobody, "m1", ABSENT)) == (
        HTTPStatus.NOT_FOUND,
        "session_not_found",
    )


async def test_lists_filter_by_what_is_so_now(session: SessionApi) -> None:
    await session.append(user("For people.", "m3", agent_visible=False))
    await show(session, "m1", agent_visible=False)
    await show(session, "m2", user_visible=False)
    await show(session, "m3", agent_visible=True)

    assert await listed(session, agent_visible=False) == ["m1"]
    assert await listed(session, agent_visible=True) == ["m2", "m3"]
    assert await listed(session, user_visible=True) == ["m1", "m3"]
    assert await listed(session, agent_visible=True, user_visible=True) == ["m3"]
    assert [flags(kept) for kept in await session.messages()] == [
        *((False, True), (True, False), (True, True))
    ]


async def test_an_append_is_compared_with_what_was_appended(session: SessionApi) -> None:
    await show(session, "m1", agent_visible=False)
    version = (await session.read())["version"]
    await session.append(user("Fix the build.", "m1"))
    conflict = await session.post(
        "messages", {"messages": [user("Fix the build.", "m1", agent_visible=False)]}
    )

    assert refusal(conflict) == (HTTPStatus.CONFLICT, "message_conflict")
    assert (await session.read())["version"] == version
    assert await shown(session) == ["m2"]


async def test_a_call_that_was_prepared_before_has_its_bytes_for_ever(session: SessionApi) -> None:
    prepared = []
    for message_id, visible in (("m1", False), ("m2", False), ("m1", True), ("m2", True)):
        call = await session.prepare(append=[user(f"Then {message_id} is {visible}.")])
        path = f"prepared/{call['prepared_id']}"
        prepared.append((path, (await session.get(path)).content, call["request"]))
        await show(session, message_id, agent_visible=visible)

    for path, content, request in prepared:
        again = await session.get(path)

        assert again.content == content
        assert again.json() == request


async def test_a_prefix_that_breaks_by_a_change_says_so(session: SessionApi) -> None:
    await session.append(user("And now?", "m3"))
    await session.prepare()
    await show(session, "m2", agent_visible=False)
    hidden = (await session.prepare())["prefix"]
    await show(session, "m3", user_visible=False)
    for_people = (await session.prepare(append=[user("Well?", "m4")]))["prefix"]
    await show(session, "m2", agent_visible=True)
    back = (await session.prepare())["prefix"]

    assert (hidden["broken_at"], hidden["cause"]) == (2, "visibility_changed")
    assert (for_people["broken_at"], for_people["cause"]) == (None, None)
    assert (back["broken_at"], back["cause"]) == (2, "visibility_changed")


async def test_a_result_that_is_hidden_and_shown_is_no_late_result(session: SessionApi) -> None:
    await session.append(
        calls("c1", message_id="m3"), results("c1", message_id="m4"), user("On.", "m5")
    )
    await session.prepare()
    await show(session, "m4", agent_visible=False)
    without = await session.prepare(include=["provenance"])
    await show(session, "m4", agent_visible=True)
    back = await session.prepare(include=["provenance"])

    assert reasons(without) == ["m1", "m2", "m3", "interrupted_tool_result", "m5"]
    assert without["prefix"]["cause"] == back["prefix"]["cause"] == "visibility_changed"
    assert reasons(back) == ["m1", "m2", "m3", "m4", "m5"]


async def test_a_result_without_its_call_is_left_out_and_reported(session: SessionApi) -> None:
    await session.append(
        calls("c1", message_id="m3"), results("c1", message_id="m4"), user("On.", "m5")
    )
    await show(session, "m3", agent_visible=False)
    prepared = await session.prepare(include=["provenance"])

    assert reasons(prepared) == ["m1", "m2", "m5"]
    assert [(repair["code"], repair["call_id"]) for repair in prepared["repairs"]] == [
        ("orphan_tool_result_dropped", "c1")
    ]


async def test_world_state_that_is_hidden_is_told_again(session: SessionApi) -> None:
    first = await session.sample(rules("one"), model_call=1)
    told_twice = await session.sample(rules("one"), model_call=2)
    await show(session, first["emitted"][0]["id"], agent_visible=False)
    again = await session.sample(rules("one"), model_call=3)

    assert told(told_twice) == []
    assert told(again) == [rendered("one")]
    assert (await shown(session))[2:] == [again["emitted"][0]["id"]]


async def test_the_baseline_is_what_the_messages_still_tell(session: SessionApi) -> None:
    await session.sample(rules("one"), model_call=1)
    second = await session.sample(rules("two"), model_call=2)
    await show(session, second["emitted"][0]["id"], agent_visible=False)
    third = await session.sample(rules("one"), model_call=3)
    await session.post("rewind", {"through_sequence": 4})
    fourth = await session.sample(rules("one"), model_call=4)

    assert told(third) == told(fourth) == []


@requirement(
    "GO-7.2-old-messages-hidden-from-the-agent",
    "GO-7.2-summary-for-the-agent-only",
)
@pytest.mark.parametrize("policy", ["openwork", "codex"])
async def test_people_see_on_what_the_model_sees_a_summary_of(timed: Timed, policy: str) -> None:
    session = await timed.session(policy=policy)
    await session.append(
        user("Fix the build.", "m1"), assistant("Done.", "m2"), user("Aside.", "m3", **ABSENT)
    )
    before = await replayed(session, "user")
    held = (await compact(session))["checkpoint"]["id"]
    await session.append(user("Now release it.", "m4"))
    agent = await replayed(session, "agent")
    made = [(id_, *seen) for id_, *seen in agent if id_.startswith(held)]
    keeps_m1 = policy == "codex"

    assert before == [("m1", True, True), ("m2", True, True), ("m3", False, True)]
    assert made == [
        *([] if keeps_m1 else [(f"{held}:last-user", True, False)]),
        (f"{held}:summary", True, False),
        *([] if keeps_m1 else [(f"{held}:reminder", True, False)]),
    ]
    assert [entry for entry in agent if entry not in made] == [
        *([("m1", True, True)] if keeps_m1 else []),
        ("m4", True, True),
    ]
    assert await replayed(session, "user") == [
        ("m1", keeps_m1, True),
        ("m2", False, True),
        ("m3", False, True),
        ("m4", True, True),
    ]


async def test_people_see_what_is_for_them_alone(session: SessionApi) -> None:
    text = {"type": "text", "text": "for both"}
    aside = {"type": "text", "text": "for people", "audience": ["user"]}
    note = {"type": "text", "text": "for the model", "audience": ["assistant"]}
    thought = {"type": "thinking", "thinking": "hm"}
    await session.append(
        {"id": "m3", "role": "assistant", "content": [thought, text, aside, note]},
        {"id": "m4", "role": "assistant", "content": [thought, note]},
    )
    people = (await session.read("replay", view="user"))["messages"]
    prepared = await session.prepare()

    assert [kept["id"] for kept in people] == ["m1", "m2", "m3"]
    assert people[2]["content"] == [text, {**text, "text": "for people"}]
    assert prepared["request"]["messages"][-2]["content"][1:] == [
        text,
        {**text, "text": "for the model"},
    ]


async def test_a_view_of_people_goes_as_far_as_its_selector(session: SessionApi) -> None:
    held = (await compact(session))["checkpoint"]["id"]
    await session.append(user("Now release it.", "m3"))
    await show(session, "m1", user_visible=False)
    folded = await replayed(session, "user", selector=f"compaction:{held}")
    early = await replayed(session, "user", selector="through:1")

    assert folded == [("m2", False, True)]
    assert early == []
    assert await replayed(session, "user", selector="through:0") == []
    assert await replayed(session, "user", selector="through:3") == [
        ("m2", False, True),
        ("m3", True, True),
    ]
    assert (await session.get("replay", view="model")).status_code == 422


async def test_what_was_rewound_is_still_seen_by_people(session: SessionApi) -> None:
    await session.post("rewind", {"through_sequence": 1})

    assert await replayed(session, "agent") == [("m1", True, True)]
    assert await replayed(session, "user") == [("m1", True, True), ("m2", False, True)]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("openwork", ["compaction_summary", "system_reminder"]),
        ("codex", ["compaction_summary"]),
    ],
)
async def test_a_message_that_a_fold_kept_can_still_be_hidden(
    timed: Timed, policy: str, kept: list[str]
) -> None:
    session = await timed.session(policy=policy)
    await session.append(user("My password is 1234.", "m1"), assistant("Noted.", "m2"))
    held = (await compact(session))["checkpoint"]["id"]
    before = await session.prepare()
    path = f"prepared/{before['prepared_id']}"
    content = (await session.get(path)).content
    await show(session, "m1", agent_visible=False)
    after = await session.prepare(include=["provenance"])
    alone = await replayed(session, "agent", selector=f"compaction:{held}")

    assert reasons(after) == kept
    assert after["prefix"]["cause"] == "visibility_changed"
    assert len(alone) == len(kept)
    assert b"1234" in content
    assert (await session.get(path)).content == content


async def test_a_fold_under_way_whose_messages_change_is_superseded(session: SessionApi) -> None:
    held = await start(session)
    await show(session, "m1", user_visible=False)
    standing = (await held.read())["status"]
    await show(session, "m2", agent_visible=False)
    late = await held.complete(summary_of("a password"))
    anew = await start(session)

    assert standing == "pending"
    assert refusal(late) == (HTTPStatus.CONFLICT, "compaction_closed")
    assert (await held.read())["status"] == "superseded"
    assert anew.answer["plan_key"] != held.answer["plan_key"]
    assert "Done." not in str(anew.answer["summary_request"])


async def test_a_summary_request_repeats_whatever_is_hidden_behind_the_fold(
    session: SessionApi,
) -> None:
    await session.append(
        message("assistant", [tool_call("c1", state="pending")], "m3"), user("Meanwhile.", "m4")
    )
    first = await start(session, "k")
    await show(session, "m4", agent_visible=False)
    again = succeeded(await request_compaction(session, "k"))
    smaller = succeeded(await first.fail("transient"))
    repeated = succeeded(await first.fail("transient"))
    done = succeeded(await first.complete(summary_of("the build"), 2))

    assert again["summary_request"] == first.answer["summary_request"]
    assert repeated == smaller
    assert done["status"] == "completed"
    assert await shown(session) == [*AFTER_FOLD, "m3", "interrupted_tool_result"]


async def test_a_fork_has_the_visibility_of_its_source(session: SessionApi) -> None:
    await session.append(user("More.", "m3"))
    await show(session, "m1", agent_visible=False)
    await show(session, "m2", user_visible=False)
    await show(session, "m3", agent_visible=False)
    made = succeeded(
        await session.post("fork", {"id": f"{session.id}-fork", "through_sequence": 2})
    )
    fork = SessionApi(client=session.client, id=made["id"], created=made)
    prepared = await fork.prepare(include=["provenance"])
    await fork.append(user("Fix the build.", "m1"), user("More.", "m3"))
    await show(fork, "m1", agent_visible=True)
    path = f"prepared/{prepared['prepared_id']}"

    assert reasons(prepared) == ["m2"]
    assert [flags(kept) for kept in await fork.messages()] == [
        *((True, True), (True, False), (True, True))
    ]
    assert await shown(fork) == ["m1", "m2", "m3"]
    assert await fork.read(path) == prepared["request"]
    assert await shown(session) == ["m2"]


async def test_a_change_counts_after_a_rewind_too(session: SessionApi) -> None:
    await session.append(user("More.", "m3"))
    await show(session, "m1", agent_visible=False)
    await session.post("rewind", {"through_sequence": 2})

    assert await shown(session) == ["m2"]
    assert [id_ for id_, *_ in await replayed(session, "agent", selector="through:3")] == ["m2"]


async def test_a_cut_parts_no_hidden_call_from_its_result(session: SessionApi) -> None:
    await session.append(calls("c1", message_id="m3"), results("c1", message_id="m4"))
    await show(session, "m3", agent_visible=False)
    made = succeeded(
        await session.post("fork", {"id": f"{session.id}-fork", "through_sequence": 3})
    )

    assert made["forked_from"]["through_sequence"] == 2


async def test_changes_and_prepares_at_once_leave_calls_that_can_be_made_again(
    session: SessionApi,
) -> None:
    await session.append(*(user(f"Message {number}.", f"n{number}") for number in range(MANY)))
    changes = [show(session, f"n{number}", agent_visible=False) for number in range(MANY)]
    prepares = [session.prepare(append=[user(f"Go {number}.")]) for number in range(MANY)]
    made = await asyncio.gather(
        *(act for pair in zip(changes, prepares, strict=True) for act in pair)
    )
    prepared = made[1::2]
    again = [await session.read(f"prepared/{call['prepared_id']}") for call in prepared]
    last = await session.prepare()

    assert again == [call["request"] for call in prepared]
    assert not any("Message" in text for text in texts(last["request"]))
    assert (await session.read())["version"] == 2 + 2 * MANY
