"""The codex style for callers with a store of their own."""

from http import HTTPStatus
from typing import Any

import pytest

from app.compaction.user_messages import CHECKPOINT_PROMPT
from tests.api.captures import rendered
from tests.api.client import (
    PROFILE,
    Api,
    Json,
    assistant,
    calls,
    message,
    results,
    succeeded,
    text_block,
    user,
)
from tests.api.codex_sessions import SAID, summary
from tests.api.compacting import refusal, texts
from tests.api.on_one_database import ON_SQLITE
from tests.api.test_stateless_compaction import stored

pytestmark = ON_SQLITE

WORLD = message("user", [text_block(rendered("old"))], kind="world_state")
TALK = stored(user("One."), calls("c1"), results("c1"), assistant("Done."), user("Two."), WORLD)


async def plan(api: Api, conversation: list[Json], **fields: Any) -> Json:
    body = {"policy": "codex", "model_profile": PROFILE, "conversation": conversation, **fields}
    return succeeded(await api.client.post("/v1/compaction/plan", json=body))


async def replaced(api: Api, conversation: list[Json], **fields: Any) -> Json:
    body = {"policy": "codex", "conversation": conversation, "summary": SAID, **fields}
    return succeeded(await api.client.post("/v1/compaction/replace", json=body))


def origins(answer: Json) -> list[str]:
    return [item["source"].get("id") or "live" for item in answer["items"]]


@pytest.mark.parametrize(
    ("fields", "keep_from"),
    [
        ({"kind": "threshold", "phase": "pre_turn"}, 4),
        ({"kind": "threshold"}, 4),
        ({"kind": "threshold", "phase": "mid_turn"}, 6),
        ({"kind": "model_downshift"}, 4),
        ({"kind": "manual"}, 6),
    ],
)
async def test_the_phase_says_how_much_is_folded(api: Api, fields: Json, keep_from: int) -> None:
    answer = await plan(api, TALK, **fields)

    assert (answer["keep_from"], answer["fold_through"]) == (keep_from, keep_from - 1)
    assert texts(answer["summary_request"])[-1] == CHECKPOINT_PROMPT


async def test_a_level_is_the_number_of_steps_that_drop_a_message(api: Api) -> None:
    answer = await plan(api, TALK, kind="manual", level=2)

    assert texts(answer["summary_request"])[:-1] == ["Done.", "Two.", rendered("old")]
    assert (answer["level"], answer["removed_tool_results"]) == (2, ["c1"])
    assert (await plan(api, TALK, kind="manual", level=9))["fits"] is False


async def test_a_replacement_before_a_turn(api: Api) -> None:
    answer = await replaced(api, TALK, kind="threshold")

    assert origins(answer) == ["m1", "compaction:summary", "m5", "m6"]
    assert texts({"messages": answer["items"]})[1] == summary()
    assert answer["hidden"] == [1, 2, 3]


async def test_a_replacement_in_a_turn_carries_the_world_that_is_in_force(api: Api) -> None:
    newer = message("user", [text_block(rendered("new"))], kind="world_state")
    other = message("user", [text_block("<goals>\nship\n</goals>")], kind="world_state")
    conversation = stored(
        user("One."), WORLD, other, user("Two."), newer, calls("c1"), results("c1")
    )
    answer = await replaced(api, conversation, kind="threshold", phase="mid_turn")

    assert origins(answer) == ["m1", "m3", "m5", "m4", "compaction:summary"]
    assert answer["hidden"] == [1, 5, 6]


async def test_a_replacement_can_be_prepared_and_replaced_again(api: Api) -> None:
    first = await replaced(api, TALK, kind="manual")
    body = {"model_profile": PROFILE, "policy": "codex", "conversation": first["items"]}
    prepared = succeeded(await api.client.post("/v1/prepare", json=body))
    second = await replaced(api, [*first["items"], user("Three."), assistant("Ok.")], kind="manual")

    assert prepared["repairs"] == []
    assert texts(prepared["request"]) == ["One.", "Two.", summary()]
    assert texts({"messages": second["items"]}) == ["One.", "Two.", "Three.", summary()]


async def test_a_conversation_without_a_user_message_is_replaced(api: Api) -> None:
    answer = await replaced(api, [assistant("Alone.")], kind="manual")

    assert texts({"messages": answer["items"]}) == [summary()]


@pytest.mark.parametrize(
    ("conversation", "kind", "code"),
    [
        ([], "manual", "empty_conversation"),
        ([user("One.")], "threshold", "nothing_to_compact"),
    ],
)
async def test_what_cannot_be_folded_is_refused(
    api: Api, conversation: list[Json], kind: str, code: str
) -> None:
    body = {"policy": "codex", "conversation": conversation, "kind": kind, "summary": SAID}
    response = await api.client.post("/v1/compaction/replace", json=body)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, code)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (" Done.\n", {"accepted": True, "reason": None, "summary": " Done.\n"}),
        (" \n", {"accepted": False, "reason": "the response had no text", "summary": None}),
    ],
)
async def test_a_summary_is_checked_by_the_style_of_the_policy(
    api: Api, text: str, answer: Json
) -> None:
    body = {"policy": "codex", "text": text, "finish_reason": "length", "tool_calls": 1}

    assert succeeded(await api.client.post("/v1/compaction/check-summary", json=body)) == answer


async def test_the_room_for_user_messages_is_a_value_of_the_policy(api: Api) -> None:
    policy = {"preset": "codex", "kept_user_message_tokens": 0}
    body = {"policy": policy, "conversation": TALK, "kind": "manual", "summary": SAID}
    answer = succeeded(await api.client.post("/v1/compaction/replace", json=body))
    refused = {**body, "policy": {"preset": "openwork", "kept_user_message_tokens": 0}}
    response = await api.client.post("/v1/compaction/replace", json=refused)

    assert texts({"messages": answer["items"]}) == [summary()]
    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "unknown_policy_override")
