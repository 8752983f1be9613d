"""What goose fixes and Awaken cleans, in requests of conversations that are given whole."""

from typing import Any

import pytest

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
    tool_call,
    tool_result,
    user,
)
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

pytestmark = ON_SQLITE

HIDDEN: Json = {"agent_visible": False}


def brief(block: Json) -> str:
    match block["type"]:
        case "text":
            return str(block["text"])
        case "tool_call":
            return f"call {block['id']}"
        case _:
            said = "".join(part["text"] for part in block["output"])
            return f"result {block['id']}: {said}"


async def seen(api: Api, *conversation: Json, **policy: Any) -> tuple[list[str], list[str]]:
    """The messages of a request, each in a few words, and the codes of its repairs."""
    body = {"model_profile": PROFILE, "policy": policy, "conversation": list(conversation)}
    answer = succeeded(await api.client.post("/v1/prepare", json=body))
    said = [
        f"{entry['role'][0].upper()} {', '.join(map(brief, entry['content']))}"
        for entry in answer["request"]["messages"]
    ]
    return said, [repair["code"] for repair in answer["repairs"]]


@pytest.mark.parametrize(
    ("conversation", "fixed", "repairs"),
    [
        pytest.param([], [], [], id="X2"),
        pytest.param(
            [user("a"), user("b"), assistant("c  ")],
            ["U a, b"],
            ["messages_merged", "message_dropped"],
            id="X3",
        ),
        pytest.param(
            [user("q"), calls("1"), results("1"), user("Thanks")],
            ["U q", "A call 1", "T result 1: done", "U Thanks"],
            [],
            id="X6",
        ),
        pytest.param(
            [user("q"), calls("1", "2"), results("1"), results("2")],
            ["U q", "A call 1, call 2", "T result 1: done", "T result 2: done"],
            ["messages_merged"],
            id="X7 and each result is a message",
        ),
        pytest.param(
            [
                *(user("1"), assistant("x", **HIDDEN), user("2"), user("3"), assistant("a")),
                *(user("b", **HIDDEN), user("4")),
            ],
            ["U 1, 2, 3", "A a", "U 4"],
            ["messages_merged", "messages_merged"],
            id="X8",
        ),
        pytest.param([user("n", **HIDDEN)], [], [], id="X10"),
        pytest.param(
            [user("q"), calls("1"), message("tool", [{**tool_result("1"), "output": []}])],
            ["U q", "A call 1", "T result 1: (empty result)"],
            ["message_fixed"],
            id="X11",
        ),
        pytest.param(
            [user("q"), calls("1"), message("tool", [tool_result("1"), tool_result("1", "b")])],
            ["U q", "A call 1", "T result 1: done"],
            ["orphan_tool_result_dropped"],
            id="X12",
        ),
        pytest.param(
            [user(""), assistant("   "), user("x")],
            ["U x"],
            ["message_dropped", "message_dropped"],
            id="X16",
        ),
        pytest.param(
            [assistant("lead"), user("u"), assistant("trail")],
            ["U u"],
            ["message_dropped", "message_dropped"],
            id="X18",
        ),
        pytest.param(
            [user("q"), message("assistant", [text_block("hi"), tool_call("1")])],
            ["U q"],
            ["tool_call_dropped"],
            id="X20",
        ),
        pytest.param(
            [
                user("u"),
                message("assistant", [text_block("Hello"), text_block(" world"), text_block("!")]),
                user("v"),
            ],
            ["U u", "A Hello world!", "U v"],
            ["message_fixed"],
            id="X22",
        ),
    ],
)
async def test_goose_fixes_what_a_provider_would_refuse(
    api: Api, conversation: list[Json], fixed: list[str], repairs: list[str]
) -> None:
    assert await seen(api, *conversation, preset="goose") == (fixed, repairs)


async def test_X19_a_leading_call_goes_and_its_result_with_it(api: Api) -> None:
    conversation = (calls("1"), results("1"), assistant("x"), user("y"))
    said, repairs = await seen(api, *conversation, preset="goose")

    assert said == ["U y"]
    assert "tool_call_dropped" in repairs


@requirement("AW-trim-keep-last", "AW-trim-keep-none")
@pytest.mark.parametrize(
    ("keep_last", "kept"),
    [
        pytest.param(0, [], id="CP2"),
        pytest.param(1, ["U 1"], id="CP3"),
        pytest.param(3, ["U 1"], id="CP5 the results went with their calls"),
        pytest.param(
            4, ["A call c1, call c2", "T result c1: done", "T result c2: done", "U 1"], id="CP6"
        ),
    ],
)
async def test_awaken_keeps_the_last_messages_and_no_half_of_a_round(
    api: Api, keep_last: int, kept: list[str]
) -> None:
    conversation = (user("0"), calls("c1", "c2"), results("c1"), results("c2"), user("1"))
    policy = {"preset": "awaken", "context_policy": {"keep_last": keep_last}}

    assert (await seen(api, *conversation, **policy))[0] == kept


async def test_CP15_awaken_leaves_out_what_has_no_answer(api: Api) -> None:
    conversation = (
        calls("c1", "c2"),
        message("tool", [tool_result("c1"), tool_result("ghost"), tool_result("c1", "again")]),
        calls("c1"),
    )

    assert await seen(api, *conversation, preset="awaken") == (
        ["A call c1", "T result c1: done"],
        [
            *("tool_call_dropped", "orphan_tool_result_dropped", "orphan_tool_result_dropped"),
            "tool_call_dropped",
        ],
    )
