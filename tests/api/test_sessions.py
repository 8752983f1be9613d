"""Sessions: created once, read with an entity tag, erased whole."""

from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import AGENT, PROFILE, Api, Json, SessionApi, succeeded, user
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

BODY: Json = {"id": "s", "model": "model-a", "model_profile": PROFILE, "agent": AGENT}
VOLATILE = ("incarnation", "agent_ref", "window", "policy", "created_at", "updated_at")
READ: Json = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}
PLAN: Json = {
    "name": "update_plan",
    "description": "Keep the plan",
    "parameters": {"type": "object"},
    "control": True,
    "root_only": True,
    "system_rule": "## Task checklists\nKeep the plan current.",
}
BASH: Json = {
    "name": "bash",
    "description": "Run a command",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string"}, "sandboxPermissions": {"type": "string"}},
        "required": ["command", "sandboxPermissions"],
    },
    "sandbox_parameters": ["sandboxPermissions"],
}


async def create(api: Api, **fields: Any) -> httpx.Response:
    return await api.client.post("/v1/sessions", json={**BODY, **fields})


async def test_a_created_session_is_answered_whole(api: Api) -> None:
    response = await create(api, metadata={"ticket": "T-1"}, generation={"temperature": 0.5})
    session = response.json()

    assert response.status_code == HTTPStatus.CREATED
    assert {name: value for name, value in session.items() if name not in VOLATILE} == {
        "id": "s",
        "model": "model-a",
        "model_profile": {
            **PROFILE,
            "max_context_window": None,
            "max_reasoning_tokens": None,
            "accepts_data_blocks": True,
            "effective_context_window_percent": 95,
            "auto_compact_token_limit": None,
            "comp_hash": None,
            "encoding": None,
            "manages_own_context": False,
            "media_rule": None,
        },
        "generation": {"temperature": 0.5},
        "version": 0,
        "message_count": 0,
        "parent_session_id": None,
        "forked_from": None,
        "current_turn_id": None,
        "pruned_through_sequence": None,
        "latest_compaction_id": None,
        "sandbox_available": True,
        "spill_directory": None,
        "state": "unknown",
        "used_percent": None,
        "usage": {
            "last_total": None,
            "last_call": None,
            "prefill_input_tokens": None,
            "prefill_source": "none",
            "new_context_requested": False,
            "totals": {
                "reports": 0,
                "input_tokens": 0,
                "cached_input_tokens": 0,
                "cache_write_tokens": 0,
                "output_tokens": 0,
                "reasoning_output_tokens": 0,
            },
        },
        "provider_context": None,
        "warnings": [],
        "metadata": {"ticket": "T-1"},
        "repairs": [],
    }
    assert session["policy"]["preset"] == "openwork"
    assert session["policy"]["max_tool_result_tokens"] == 8_000
    assert session["policy"]["prune_tool_result_chars"] == 8_192
    assert session["window"]["id"] == "s:0"
    assert session["window"]["first_window_id"] == session["window"]["window_id"]
    assert session["created_at"] == session["updated_at"]


async def test_the_same_body_again_gives_the_session_as_it_is_now(api: Api) -> None:
    created = (await create(api)).json()
    await api.client.patch("/v1/sessions/s", json={"model": "model-b", "metadata": {"a": 1}})

    response = await create(api, policy={"preset": "openwork"}, sandbox_available=True)
    again = response.json()

    assert response.status_code == HTTPStatus.OK
    assert again["incarnation"] == created["incarnation"]
    assert (again["model"], again["metadata"], again["version"]) == ("model-b", {"a": 1}, 1)
    assert response.headers["etag"] == f'"{again["incarnation"]}-1"'


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        ({"model": "model-b"}, ["model"]),
        ({"model_profile": None}, ["model_profile"]),
        ({"policy": {"auto_compact_percent": 84}}, ["policy"]),
        ({"agent": {"system_prompt": "Other."}}, ["agent"]),
        ({"generation": {"temperature": 1}}, ["generation"]),
        ({"parent_session_id": "p"}, ["parent_session_id"]),
        ({"sandbox_available": False}, ["sandbox_available"]),
        ({"spill_directory": "/spill"}, ["spill_directory"]),
        ({"metadata": {"flag": True}}, ["metadata"]),
        ({"metadata": {}, "model": "model-b"}, ["model", "metadata"]),
    ],
    ids=lambda value: " ".join(value),
)
@ON_SQLITE
async def test_another_body_for_a_taken_id_is_told_field_by_field(
    api: Api, other: Json, differs: list[str]
) -> None:
    await create(api, metadata={"flag": 1})

    response = await create(api, **{"metadata": {"flag": 1}, **other})

    assert response.status_code == HTTPStatus.CONFLICT
    assert response.json()["differs"] == differs


async def test_sessions_without_an_id_get_one_each(api: Api) -> None:
    body = {name: value for name, value in BODY.items() if name != "id"}

    first, second = [succeeded(await api.client.post("/v1/sessions", json=body)) for _ in range(2)]

    assert first["id"].startswith("session-")
    assert second["id"].startswith("session-")
    assert first["id"] != second["id"]
    assert first["incarnation"] != second["incarnation"]


async def test_an_entity_tag_stands_for_an_unchanged_session(api: Api) -> None:
    session = await api.session()
    tag = (await session.get()).headers["etag"]

    for header in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        response = await api.client.get("/v1/sessions/s", headers={"If-None-Match": header})

        assert (response.status_code, response.content) == (HTTPStatus.NOT_MODIFIED, b""), header
        assert response.headers["etag"] == tag

    await session.append(user("hi"))
    response = await api.client.get("/v1/sessions/s", headers={"If-None-Match": tag})

    assert response.status_code == HTTPStatus.OK
    assert response.headers["etag"] == f'"{session.created["incarnation"]}-1"'


async def test_an_erased_session_leaves_nothing_behind(api: Api) -> None:
    session = await api.session()
    await session.append(user("hi", "m1"))
    await session.sample({"instructions": {"content": "x"}})
    prepared_id = (await session.prepare())["prepared_id"]

    response = await api.client.delete("/v1/sessions/s")

    assert (response.status_code, response.content) == (HTTPStatus.NO_CONTENT, b"")
    for path in ("", "messages", "messages/m1", "world-state", f"prepared/{prepared_id}"):
        assert (await session.get(path)).status_code == HTTPStatus.NOT_FOUND, path
    assert (await api.client.delete("/v1/sessions/s")).status_code == HTTPStatus.NOT_FOUND


async def test_a_session_of_an_erased_ones_name_begins_anew(api: Api) -> None:
    old = await api.session()
    await old.append(user("hi", "m1"))
    await old.sample({"instructions": {"content": "x"}})
    prepared_id = (await old.prepare())["prepared_id"]
    await api.client.delete("/v1/sessions/s")

    new = await api.session()

    assert new.created["incarnation"] != old.created["incarnation"]
    assert (new.created["version"], new.created["message_count"]) == (0, 0)
    assert await new.messages() == []
    assert await new.read("world-state") == {"sections": []}
    assert (await new.get(f"prepared/{prepared_id}")).status_code == HTTPStatus.NOT_FOUND


async def tools_of(session: SessionApi) -> list[str]:
    return [tool["name"] for tool in (await session.read("context"))["tool_surface"]]


@requirement("OW-5-root-only-tools", "OW-11-definitions-and-resolution-agree")
@ON_SQLITE
async def test_A2_root_only_tools_belong_to_sessions_without_a_parent(api: Api) -> None:
    agent = {"system_prompt": "You plan.", "tools": [READ, PLAN, BASH]}
    root = await api.session("root", agent=agent)
    child = await api.session("child", agent=agent, parent_session_id="root")

    assert await tools_of(root) == ["read", "update_plan", "bash"]
    assert await tools_of(child) == ["read", "bash"]
    for name, status in (("read", 200), ("bash", 200), ("update_plan", 404), ("nope", 404)):
        assert (await child.get(f"tools/{name}")).status_code == status, name
    assert (await root.get("tools/update_plan")).status_code == HTTPStatus.OK
    assert await system_text(root) == f"You plan.\n\n{PLAN['system_rule']}"
    assert await system_text(child) == "You plan."


async def system_text(session: SessionApi) -> str:
    (part,) = (await session.read("context"))["system_context"]
    text: str = part["content"][0]["text"]
    return text


@requirement("OW-5-sandbox-parameters", "OW-9-sandbox")
@ON_SQLITE
async def test_sandbox_parameters_go_where_the_sandbox_is_unavailable(api: Api) -> None:
    agent = {"system_prompt": "You run.", "tools": [BASH]}
    session = await api.session(agent=agent, sandbox_available=False)

    definition = await session.read("tools/bash")

    assert definition == {
        "name": "bash",
        "description": "Run a command",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    }
    assert (await session.prepare())["request"]["tools"] == [definition]

    await api.client.patch("/v1/sessions/s", json={"sandbox_available": True})

    assert (await session.read("tools/bash"))["parameters"] == BASH["parameters"]


@ON_SQLITE
async def test_L6_a_line_that_is_always_reached_is_a_warning(api: Api) -> None:
    profile = {"name": "m", "context_window": 64_000, "max_output_tokens": 32_000}
    session = await api.session(model_profile=profile)

    prepared = await session.prepare(append=[user("hi")])

    assert session.created["warnings"] == [
        {
            "code": "line_always_reached",
            "detail": (
                "the output reserve of 32000 tokens alone reaches the line of 27200, "
                "so every model call compacts first"
            ),
        }
    ]
    assert prepared["decision"]["action"] == "compact"
    assert prepared["limits"]["compact_at_input_tokens"] == 0


@ON_SQLITE
@pytest.mark.parametrize("profile", [None, {"name": "m", "context_window": None}])
async def test_an_unknown_window_is_neither_a_number_nor_a_warning(
    api: Api, profile: Json | None
) -> None:
    session = await api.session(model_profile=profile)

    prepared = await session.prepare(append=[user("hi")])
    budget, limits = prepared["budget"], prepared["limits"]

    assert session.created["warnings"] == []
    assert prepared["decision"]["action"] == "submit"
    assert prepared["decision"]["reason"] == "unknown_window"
    assert prepared["decision"]["line_tokens"] is None
    assert budget["state"] == "unknown"
    assert [budget[name] for name in ("used_percent", "used_percent_raw", "remaining_tokens")] == [
        None
    ] * 3
    assert [limits[name] for name in ("context_window", "hard_limit_tokens")] == [None, None]
    assert prepared["request"]["max_output_tokens"] is None
