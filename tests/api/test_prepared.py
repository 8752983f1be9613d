"""Prepared calls by their ids: named by their content, and made again byte for byte."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.api.client import PROFILE, Api, Json, calls, message, succeeded, tool_result, user
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

AGENT: Json = {
    "system_prompt": "You fix bugs.",
    "tools": [{"name": "bash", "description": "Run", "parameters": {"properties": {"x": {}}}}],
}
LONG: Json = message("tool", [tool_result("c1", "a" * 50_000)])

CHANGES: Mapping[str, Json] = {
    "agent": {"agent": {"system_prompt": "You write."}},
    "policy": {"policy": {"max_tool_result_tokens": 100, "tool_order": "name"}},
    "profile": {"model_profile": {**PROFILE, "max_output_tokens": 100, "encoding": "cl100k_base"}},
    "model": {"model": "model-b"},
    "generation": {"generation": {"temperature": 1}},
    "sandbox": {"sandbox_available": False},
}


async def test_a_call_can_be_had_again_as_it_was_sent(api: Api) -> None:
    session = await api.session(agent=AGENT)
    prepared = await session.post(
        "prepare",
        {"append": [user("é"), calls("c1"), LONG], "generation": {"top_p": 1, "stop": ["x"]}},
    )

    again = await session.get(f"prepared/{prepared.json()['prepared_id']}")

    assert again.headers["content-type"] == "application/json"
    assert again.content in prepared.content
    assert again.json() == prepared.json()["request"]


@requirement("OW-10-same-history-same-bytes")
@pytest.mark.parametrize("fields", CHANGES.values(), ids=CHANGES)
@ON_SQLITE
async def test_a_call_can_be_had_again_after_everything_changed(api: Api, fields: Json) -> None:
    session = await api.session(agent=AGENT)
    prepared = await session.prepare(append=[user("one"), calls("c1"), LONG])
    path = f"prepared/{prepared['prepared_id']}"
    before = (await session.get(path)).content

    succeeded(await api.client.patch("/v1/sessions/s", json=fields))
    later = await session.prepare(append=[user("two")])

    assert (await session.get(path)).content == before
    assert later["prepared_id"] != prepared["prepared_id"]
    assert await session.read(f"prepared/{later['prepared_id']}") == later["request"]


async def test_a_late_result_does_not_reach_calls_that_were_prepared_before(api: Api) -> None:
    session = await api.session()
    prepared = await session.prepare(
        append=[calls("c1", "c2"), message("tool", [tool_result("c1")])]
    )
    path = f"prepared/{prepared['prepared_id']}"
    before = (await session.get(path)).content

    await session.prepare(append=[message("tool", [tool_result("c2")]), user("two")])

    assert (await session.get(path)).content == before
    assert b'"state":"interrupted"' in before


@ON_SQLITE
async def test_a_call_of_another_output_limit_is_another_call(api: Api) -> None:
    session = await api.session()
    first = await session.prepare(append=[user("hi")])

    profile = {**PROFILE, "max_output_tokens": 16_000}
    succeeded(await api.client.patch("/v1/sessions/s", json={"model_profile": profile}))
    second = await session.prepare()

    limits = {
        prepared["prepared_id"]: prepared["request"]["max_output_tokens"]
        for prepared in (first, second)
    }
    assert len(limits) == 2
    for prepared_id, limit in limits.items():
        assert (await session.read(f"prepared/{prepared_id}"))["max_output_tokens"] == limit


async def test_equal_histories_of_two_sessions_give_equal_requests_under_two_ids(api: Api) -> None:
    turn: list[Any] = [user("hi"), calls("c1"), LONG, user("more")]

    first = await (await api.session("a")).prepare(append=turn)
    second = await (await api.session("b")).prepare(append=turn)

    assert first["request"] == second["request"]
    assert first["prefix"]["chain"] == second["prefix"]["chain"]
    assert first["prepared_id"] != second["prepared_id"]


@ON_SQLITE
async def test_a_call_belongs_to_its_session(api: Api) -> None:
    prepared = await (await api.session("a")).prepare(append=[user("hi")])

    response = await (await api.session("b")).get(f"prepared/{prepared['prepared_id']}")

    assert (response.status_code, response.json()["code"]) == (404, "prepared_not_found")
