"""Turns over HTTP: messages, then world state, then the call, all in one transaction."""

from typing import Any

from tests.api.captures import REPLACES_INSTRUCTIONS, SANDBOX, WHOLE, rendered, rules, told
from tests.api.client import (
    Api,
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    tool_result,
    user,
)
from tests.requirements import requirement


def texts(prepared: Json) -> list[str]:
    """The first text of each message of a request."""
    return [text_of(element["content"][0]) for element in prepared["request"]["messages"]]


def text_of(block: Json) -> str:
    text: str = block.get("text") or block.get("id") or ""
    return text


async def prepare_call(session: SessionApi, model_call: int, *append: Json, **fields: Any) -> Json:
    """The call of turn t1 with that number."""
    point = {"turn_id": "t1", "model_call": model_call, "sample": 1}
    return await session.prepare(**point, append=list(append), **fields)


@requirement("OW-11-messages-reach-the-next-call", "OW-6-prepared-call")
async def test_a_prepare_appends_then_samples_then_prepares(api: Api) -> None:
    session = await api.session()

    prepared = await prepare_call(
        session,
        1,
        user("hi", "m1", turn_id="t1"),
        world_state=rules("规范"),
        expected_message_count=0,
        include=["provenance"],
    )

    assert prepared["appended"] == [{"id": "m1", "sequence": 1}]
    assert told(prepared["world_state"]) == [rendered("规范")]
    assert texts(prepared) == ["You fix bugs.", "hi", rendered("规范")]
    assert (prepared["message_count"], prepared["version"]) == (2, 1)
    assert [source["sequence"] for source in prepared["provenance"]] == [1, 2]
    assert [stored["kind"] for stored in await session.messages()] == ["normal", "world_state"]


@requirement(
    "OW-2-same-bytes-in-every-call",
    "OW-3-unchanged-section-sends-nothing",
    "OW-11-system-only-the-agent-prompt",
)
async def test_S25_what_did_not_change_between_two_calls_is_told_once(api: Api) -> None:
    session = await api.session()
    capture = {**rules("规范"), "project": WHOLE["project"], "skills": None, "sandbox": SANDBOX}

    first = await prepare_call(session, 1, user("hi"), world_state=capture)
    second = await prepare_call(session, 2, calls("c1"), results("c1"), world_state=capture)

    assert len(first["world_state"]["emitted"]) == 3
    assert second["world_state"]["emitted"] == []
    assert texts(second)[:5] == texts(first)
    assert texts(first)[0] == "You fix bugs."
    assert second["prefix"]["common_messages"] == 5
    assert segment(first, "system") == segment(second, "system")


def segment(prepared: Json, name: str) -> Json:
    segments: list[Json] = prepared["prefix"]["segments"]
    return next(part for part in segments if part["name"] == name)


@requirement("OW-11-edit-inside-a-turn")
async def test_S26_instructions_that_a_tool_edited_reach_the_next_call(api: Api) -> None:
    session = await api.session()
    await prepare_call(session, 1, user("hi"), world_state=rules("old"))

    second = await prepare_call(
        session,
        2,
        calls("edit-1"),
        message("tool", [tool_result("edit-1", "edited AGENTS.md")]),
        world_state=rules("new"),
    )

    assert texts(second)[-1] == f"{REPLACES_INSTRUCTIONS}\n\n{rendered('new')}"
    assert second["prefix"]["broken_at"] is None


@requirement("OW-11-gap-blank-instructions-through-a-turn", "OW-11-instructions-loaded-or-absent")
async def test_a_turn_with_blank_instructions_tells_nothing_of_them(api: Api) -> None:
    session = await api.session()
    blank = rules(" \n\t\n")

    first = await prepare_call(session, 1, user("hi"), world_state=blank)
    second = await prepare_call(session, 2, calls("c1"), results("c1"), world_state=blank)
    third = await prepare_call(session, 3, assistant("done"), world_state=blank)

    assert [call["world_state"]["emitted"] for call in (first, second, third)] == [[], [], []]
    assert texts(third) == ["You fix bugs.", "hi", "c1", "c1", "done"]


@requirement(
    "OW-9-skill-in-three-places",
    "OW-11-skill-snapshot-before-the-user-message",
    "OW-11-gap-skill-edited-after-acceptance",
)
async def test_an_edited_skill_does_not_rewrite_what_was_selected(api: Api) -> None:
    session = await api.session()
    skill = "<skill>\n<name>commit</name>\n<path>/skills/commit</path>\nold body\n</skill>"
    await prepare_call(
        session,
        1,
        user(skill, "skill", kind="skill_instruction"),
        user("Commit this.", "m1"),
        world_state=WHOLE,
    )
    edited = {**WHOLE, "skills": [{**WHOLE["skills"][0], "description": "Commits better."}]}

    second = await prepare_call(session, 2, assistant("ok"), world_state=edited)

    assert texts(second)[1:3] == [skill, "Commit this."]
    assert second["request"]["tools"] == []
    assert [message["id"] for message in second["world_state"]["emitted"]] == [
        "world-state:t1:2:1:skills/catalog"
    ]
    assert "Commits better." in told(second["world_state"])[0]


async def test_the_same_prepare_again_is_the_same_answer(api: Api) -> None:
    session = await api.session()
    turn = [user("hi", "m1"), calls("c1", message_id="m2")]

    first = await prepare_call(session, 1, *turn, world_state=rules("x"), expected_message_count=0)
    again = await prepare_call(session, 1, *turn, world_state=rules("y"), expected_message_count=0)

    assert not first["world_state"].pop("replayed")
    assert again["world_state"].pop("replayed")
    assert again == first
    assert len(await session.messages()) == 3


async def test_a_refused_prepare_keeps_nothing_of_what_it_brought(api: Api) -> None:
    session = await api.session()
    before = await session.read()
    point = {"turn_id": "t1", "model_call": 1, "sample": 1}
    image = {"type": "data", "source": {"source_type": "file_id", "id": "f"}}
    await session.append(message("user", [image], "m1"))
    text_only = {**before["model_profile"], "accepts_data_blocks": False}
    await api.client.patch("/v1/sessions/s", json={"model_profile": text_only})
    stored = await session.messages(), await session.read()

    response = await session.post(
        "prepare", {**point, "append": [assistant("a", "m2")], "world_state": rules("x")}
    )

    assert (response.status_code, response.json()["code"]) == (422, "unsupported_user_data")
    assert (response.json()["item_index"], response.json()["message_id"]) == (0, "m1")
    assert (await session.messages(), await session.read()) == stored
    assert await session.read("world-state") == {"sections": []}
