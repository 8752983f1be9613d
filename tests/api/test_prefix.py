"""How much of the call before a prepared call repeats, and why not more."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import pytest

from tests.api.captures import rules
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
    tool_call,
    tool_result,
    user,
)
from tests.api.on_one_database import ON_SQLITE
from tests.api.requests import chain_of, read_request, segments_of
from tests.requirements import requirement

READ: Json = {"name": "read", "description": "Read a file", "parameters": {}}
WRITE: Json = {**READ, "name": "write"}
AGENT: Json = {"system_prompt": "You fix bugs.", "tools": [WRITE, READ]}
IMAGE: Json = {"type": "data", "source": {"source_type": "file_id", "id": "f"}}


async def patched(session: SessionApi, **fields: Any) -> None:
    succeeded(await session.client.patch(f"/v1/sessions/{session.id}", json=fields))


async def prefix_of(session: SessionApi, *append: Json, **fields: Any) -> Json:
    prefix: Json = (await session.prepare(append=list(append), **fields))["prefix"]
    return prefix


def broken(prefix: Json) -> tuple[int, int | None, str | None]:
    return prefix["common_messages"], prefix["broken_at"], prefix["cause"]


async def test_the_first_call_has_nothing_to_repeat(api: Api) -> None:
    session = await api.session(agent={"system_parts": [{"key": "s", "content": "s"}]})

    prefix = await prefix_of(session, user("hello"))

    assert broken(prefix) == (0, None, None)
    assert prefix["common_bytes"] == 0
    assert prefix["chain"] == "aab84ff2d679c1de9f17b5afdb2c39f30b10736de12ae27007bbc669268bb76d"
    assert [segment["bytes"] for segment in prefix["segments"]] == [56, 0, 58]


@requirement("OW-4.2-synthesised-bytes-are-stable")
async def test_E7_what_is_appended_keeps_all_that_was_sent(api: Api) -> None:
    session = await api.session(agent=AGENT)
    first = await session.prepare(append=[user("one"), assistant("two"), calls("c1", "c2")])

    second = await session.prepare(append=[user("three")], include=["provenance"])
    prefix = second["prefix"]
    request = read_request((await session.get(f"prepared/{second['prepared_id']}")).text)
    repeated = request.elements[: len(first["request"]["messages"])]

    assert broken(prefix) == (6, None, None)
    assert prefix["common_bytes"] == sum(element.size_bytes for element in repeated)
    assert prefix["chain"] == chain_of([element.digest for element in request.elements])
    assert prefix["segments"] == segments_of(request)
    assert second["request"]["messages"][:6] == first["request"]["messages"]
    assert second["prepared_id"] != first["prepared_id"]


async def test_a_call_is_compared_with_the_last_one_that_was_different(api: Api) -> None:
    session = await api.session(agent=AGENT)
    await session.prepare(append=[user("one")])
    second = await session.prepare(append=[assistant("two")])

    again = await session.prepare()
    third = await session.prepare(append=[user("three")])

    assert again["prefix"] == second["prefix"]
    assert again["prepared_id"] == second["prepared_id"]
    assert broken(second["prefix"]) == (2, None, None)
    assert broken(third["prefix"]) == (3, None, None)


async def test_a_call_that_comes_back_is_compared_with_the_one_between(api: Api) -> None:
    session = await api.session(agent=AGENT)
    plain = await session.prepare(append=[user("one")])

    warm = await session.prepare(generation={"temperature": 1})
    back = await session.prepare()

    assert warm["prepared_id"] != plain["prepared_id"]
    assert back["prepared_id"] == plain["prepared_id"]
    assert broken(warm["prefix"]) == broken(back["prefix"]) == (2, None, None)


async def test_a_call_of_another_model_is_compared_with_that_models_own(api: Api) -> None:
    session = await api.session(agent=AGENT)
    await session.prepare(append=[user("one")])

    await patched(session, model="model-b")
    other = await prefix_of(session, assistant("two"))
    await patched(session, model="model-a", model_profile=PROFILE)
    back = await prefix_of(session, user("three"))

    assert broken(other) == (0, None, None)
    assert broken(back) == (2, None, None)


Act: TypeAlias = Callable[[SessionApi], Awaitable[None]]


def patching(**fields: Any) -> Act:
    async def act(session: SessionApi) -> None:
        await patched(session, **fields)

    return act


def appending(*messages: Json) -> Act:
    async def act(session: SessionApi) -> None:
        await session.append(*messages)

    return act


LONG = message("tool", [tool_result("c1", "a" * 4_000)])
BEFORE: tuple[Json, ...] = (user("one"), calls("c1"), LONG)

CAUSES: Mapping[str, tuple[tuple[Json, ...], Act, tuple[int, int | None, str | None]]] = {
    "another prompt": (
        BEFORE,
        patching(agent={**AGENT, "system_prompt": "You write."}),
        (0, 0, "agent_changed"),
    ),
    "other tools": (
        BEFORE,
        patching(agent={**AGENT, "tools": [READ]}),
        (4, None, "agent_changed"),
    ),
    "tools in another order": (
        BEFORE,
        patching(policy={"tool_order": "name"}),
        (4, None, "policy_changed"),
    ),
    "smaller results": (
        BEFORE,
        patching(policy={"max_tool_result_tokens": 100}),
        (3, 3, "policy_changed"),
    ),
    "no media": (
        (user("one"), message("user", [text_block("x"), IMAGE], kind="agent_message")),
        patching(model_profile={**PROFILE, "accepts_data_blocks": False}),
        (2, 2, "model_changed"),
    ),
    "a result that came after all": (
        (user("one"), calls("c1", "c2"), results("c1")),
        appending(results("c2")),
        (4, 4, "interrupted_result_replaced"),
    ),
    "a result that was late": (
        (message("assistant", [tool_call("c1", state="pending")]), user("and?")),
        appending(results("c1")),
        (2, 2, "late_tool_result"),
    ),
    "a final result after a running one": (
        (calls("c1"), message("tool", [tool_result("c1", state="running")]), user("and?")),
        appending(results("c1")),
        (2, 2, "late_tool_result"),
    ),
    "a policy that changes nothing": (
        BEFORE,
        patching(policy={"auto_compact_percent": 50}),
        (0, None, None),
    ),
}


@requirement("OW-1-system-changes-with-agent-only")
@ON_SQLITE
@pytest.mark.parametrize(("before", "act", "expected"), CAUSES.values(), ids=CAUSES)
async def test_a_prefix_that_breaks_has_a_cause(
    api: Api, before: tuple[Json, ...], act: Act, expected: tuple[int, int | None, str | None]
) -> None:
    session = await api.session(agent=AGENT)
    await session.append(*before)
    await session.prepare()

    await act(session)

    assert broken(await prefix_of(session)) == expected


@requirement("OW-2-reads-no-conversation", "OW-5-built-once")
async def test_system_and_tools_keep_their_bytes_while_the_conversation_grows(api: Api) -> None:
    session = await api.session(agent=AGENT)
    first = await prefix_of(session, user("one"))

    second = await prefix_of(
        session, assistant("two"), turn_id="t", model_call=1, sample=1, world_state=rules("x")
    )

    assert second["segments"][:2] == first["segments"][:2]
    assert second["segments"][2] != first["segments"][2]
