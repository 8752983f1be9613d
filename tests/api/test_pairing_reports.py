"""What users of similar systems reported about calls and results, over HTTP.

A session refuses what would not pair. A conversation that is given whole may hold anything.
"""

from typing import Any

import pytest

from tests.api.client import (
    PROFILE,
    Api,
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    succeeded,
    text_block,
    tool_result,
    user,
)
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

pytestmark = ON_SQLITE

INTERRUPTED = (
    "Tool result unavailable: the previous turn ended before a durable result was recorded."
)


async def prepare_given(api: Api, *conversation: Json, **fields: Any) -> Json:
    body = {"model_profile": PROFILE, "conversation": list(conversation), **fields}
    return succeeded(await api.client.post("/v1/prepare", json=body))


def shown(prepared: Json) -> list[object]:
    """The conversation of a request: texts, the ids of calls, and the results with their state."""
    return [
        said(element["content"][0])
        for element in prepared["request"]["messages"]
        if element["role"] != "system"
    ]


def said(block: Json) -> object:
    match block:
        case {"type": "text", "text": text}:
            return text
        case {"type": "tool_call", "id": call_id}:
            return f"call {call_id}"
        case {"type": "tool_result", "id": call_id, "state": state}:
            return f"{call_id} {state}"
    raise AssertionError(block)


def repaired(prepared: Json) -> list[tuple[str, str]]:
    return [(repair["code"], repair["call_id"]) for repair in prepared["repairs"]]


async def code_of(session: SessionApi, *messages: Json) -> str:
    code: str = (await session.post("messages", {"messages": list(messages)})).json()["code"]
    return code


@requirement("OW-4.2-stray-results-removed")
async def test_B008_a_result_that_was_carried_over_is_dropped_wherever_it_stands(api: Api) -> None:
    prepared = await prepare_given(
        api, user("a"), calls("c1"), results("c1"), results("x"), assistant("b"), results("y")
    )

    assert shown(prepared) == ["a", "call c1", "c1 success", "b"]
    assert repaired(prepared) == [
        ("orphan_tool_result_dropped", "x"),
        ("orphan_tool_result_dropped", "y"),
    ]


@requirement("OW-4.2-missing-result-synthesised", "OW-11-missing-result-is-stable")
async def test_B010_a_turn_that_was_stopped_between_its_results_can_go_on(api: Api) -> None:
    session = await api.session()
    await session.append(calls("c1", "c2"), results("c1"), user("stop"))

    first = await session.prepare()
    second = await session.prepare(append=[assistant("ok"), user("go on")])
    made = first["request"]["messages"][3]["content"][0]

    assert shown(first) == ["call c1", "c1 success", "c2 interrupted", "stop"]
    assert made["output"] == [text_block(INTERRUPTED)]
    assert shown(second) == [*shown(first), "ok", "go on"]
    assert second["prefix"]["common_messages"] == 5
    assert (await session.read())["message_count"] == 5


async def test_B011_a_gap_among_results_is_filled_in_the_order_of_the_calls(api: Api) -> None:
    session = await api.session()
    await session.append(calls("c1", "c2", "c3"), results("c2"))

    prepared = await session.prepare()

    assert shown(prepared) == ["call c1", "c1 interrupted", "c2 success", "c3 interrupted"]
    assert repaired(prepared) == [
        ("tool_result_synthesised", "c1"),
        ("tool_result_synthesised", "c3"),
    ]


async def test_B013_a_call_that_was_rejected_has_a_result(api: Api) -> None:
    session = await api.session()
    denied = message("tool", [tool_result("c2", "The user said no.", state="denied")])
    await session.append(calls("c1", "c2"), results("c1"), denied)

    prepared = await session.prepare()

    assert shown(prepared) == ["call c1", "c1 success", "c2 denied"]
    assert prepared["repairs"] == []


async def test_B016_an_id_may_serve_again_once_it_was_answered(api: Api) -> None:
    session = await api.session()
    first = message("tool", [tool_result("d1", "first")])
    second = message("tool", [tool_result("d1", "second")])
    await session.append(calls("d1"), first, calls("d1"), second)

    prepared = await session.prepare()
    outputs = [
        element["content"][0]["output"][0]["text"]
        for element in prepared["request"]["messages"]
        if element["role"] == "tool"
    ]

    assert outputs == ["first", "second"]
    assert prepared["repairs"] == []


async def test_B017_fifty_rounds_under_one_id_are_fifty_rounds(api: Api) -> None:
    session = await api.session()
    await session.append(*[calls("call_0"), results("call_0")] * 50)

    prepared = await session.prepare()

    assert shown(prepared) == ["call call_0", "call_0 success"] * 50
    assert prepared["repairs"] == []


async def test_B020_the_first_of_two_results_counts(api: Api) -> None:
    error = message("tool", [tool_result("c1", "inline", state="error")])
    again = message("tool", [tool_result("c1", "again", state="error")])
    session = await api.session()
    await session.append(calls("c1"), error)

    assert await code_of(session, again) == "unmatched_tool_result"

    prepared = await prepare_given(api, calls("c1"), error, again)

    assert shown(prepared) == ["call c1", "c1 error"]
    assert prepared["request"]["messages"][-1]["content"][0]["output"] == [text_block("inline")]
    assert repaired(prepared) == [("duplicate_tool_result_dropped", "c1")]


async def test_B022_pairs_are_mended_in_both_directions(api: Api) -> None:
    prepared = await prepare_given(
        api, calls("a"), calls("b"), results("b"), results("zz"), user("next")
    )

    assert shown(prepared) == ["call a", "a interrupted", "call b", "b success", "next"]
    assert repaired(prepared) == [
        ("tool_result_synthesised", "a"),
        ("orphan_tool_result_dropped", "zz"),
    ]


@pytest.mark.parametrize(
    ("conversation", "expected", "codes"),
    [
        pytest.param(
            [calls("c1", "c2"), results("c2"), user("u"), results("c1")],
            ["call c1", "c1 interrupted", "c2 success", "u"],
            ["tool_result_synthesised", "orphan_tool_result_dropped"],
            id="N3",
        ),
        pytest.param([user("u"), results("ghost")], ["u"], ["orphan_tool_result_dropped"], id="N4"),
        pytest.param(
            [calls("c1", "c2"), results("c2", "c1")],
            ["call c1", "c1 success", "c2 success"],
            [],
            id="N10",
        ),
        pytest.param(
            [assistant("a"), results("c1")], ["a"], ["orphan_tool_result_dropped"], id="N12"
        ),
        pytest.param(
            [calls("c1"), calls("c2"), results("c1"), results("c2")],
            ["call c1", "c1 interrupted", "call c2", "c2 success"],
            ["tool_result_synthesised", "orphan_tool_result_dropped"],
            id="N15",
        ),
    ],
)
async def test_a_conversation_given_whole_is_paired(
    api: Api, conversation: list[Json], expected: list[str], codes: list[str]
) -> None:
    prepared = await prepare_given(api, *conversation)

    assert shown(prepared) == expected
    assert [repair["code"] for repair in prepared["repairs"]] == codes
