"""Changes of a session: what is merged, what is replaced, and what its version counts."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import PROFILE, Api, Json, SessionApi, calls, succeeded, user
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

SMALL = {"name": "model-b", "context_window": 50_000, "max_output_tokens": 8_000}


async def patch(
    session: SessionApi, headers: Mapping[str, str] | None = None, **fields: Any
) -> httpx.Response:
    return await session.client.patch(f"/v1/sessions/{session.id}", json=fields, headers=headers)


async def changed(session: SessionApi, **fields: Any) -> Json:
    return succeeded(await patch(session, **fields))


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"b": 2}, {"a": 1, "n": {"x": 1, "y": [1]}, "b": 2}),
        ({"a": None}, {"n": {"x": 1, "y": [1]}}),
        ({"gone": None}, {"a": 1, "n": {"x": 1, "y": [1]}}),
        ({"n": {"x": None}}, {"a": 1, "n": {"y": [1]}}),
        ({"n": {"y": [2, None]}}, {"a": 1, "n": {"x": 1, "y": [2, None]}}),
        ({"n": "x"}, {"a": 1, "n": "x"}),
        ({"a": {"z": None, "w": 1}}, {"a": {"w": 1}, "n": {"x": 1, "y": [1]}}),
        ({"a": True}, {"a": True, "n": {"x": 1, "y": [1]}}),
        (None, {}),
    ],
    ids=str,
)
@ON_SQLITE
async def test_metadata_is_merged(api: Api, change: object, after: Json) -> None:
    session = await api.session(metadata={"a": 1, "n": {"x": 1, "y": [1]}})

    assert (await changed(session, metadata=change))["metadata"] == after
    assert (await session.read())["metadata"] == after


async def test_other_fields_are_replaced_whole(api: Api) -> None:
    session = await api.session(
        generation={"temperature": 1, "stop": ["x"]}, policy={"tool_order": "name"}
    )
    new = {
        "generation": {"top_p": 0.5},
        "policy": {"auto_compact_percent": 90},
        "agent": {"system_prompt": "You write tests."},
        "sandbox_available": False,
        "spill_directory": "/spill",
    }

    after = await changed(session, **new)

    assert after["generation"] == {"top_p": 0.5}
    assert after["policy"]["auto_compact_percent"] == 90
    assert after["policy"]["tool_order"] == "given"
    assert after["agent_ref"] != session.created["agent_ref"]
    assert (after["sandbox_available"], after["spill_directory"]) == (False, "/spill")
    assert after["version"] == 1
    read = await session.read()
    assert read.pop("resume")["open_compaction_id"] is None
    assert read == {name: after[name] for name in after if name != "repairs"}


@requirement("CX-9-next-call-has-the-new-window")
async def test_a_new_model_has_its_own_profile_or_none(api: Api) -> None:
    session = await api.session()

    assert (await changed(session, model="model-b"))["model_profile"] is None
    assert (await session.prepare())["limits"]["context_window"] is None

    await changed(session, model="model-c", model_profile=SMALL)
    prepared = await session.prepare()

    assert prepared["request"]["model"] == "model-c"
    assert prepared["limits"]["context_window"] == 50_000
    assert prepared["request"]["max_output_tokens"] == 8_000


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"model": "model-a"},
        {"model_profile": PROFILE},
        {"policy": {"preset": "openwork", "auto_compact_percent": 85}},
        {"agent": {"system_prompt": "You fix bugs.", "tools": []}},
        {"generation": {"temperature": 1}},
        {"sandbox_available": True},
        {"spill_directory": None},
        {"metadata": {"a": 1}},
        {"metadata": {"gone": None}},
    ],
    ids=str,
)
@ON_SQLITE
async def test_equal_values_change_nothing(api: Api, fields: Json) -> None:
    session = await api.session(metadata={"a": 1}, generation={"temperature": 1})
    before = await session.read()

    await changed(session, **fields)

    assert await session.read() == before


async def test_a_change_can_ask_for_the_session_to_be_as_it_was(api: Api) -> None:
    session = await api.session()
    tag = f'"{session.created["incarnation"]}-0"'

    stale = await patch(session, {"If-Match": tag.replace("-0", "-7")}, metadata={"a": 1})
    weak = await patch(session, {"If-Match": f"W/{tag}"}, metadata={"a": 1})
    fresh = await patch(session, {"If-Match": f'"other", {tag}'}, metadata={"a": 1})
    late = await patch(session, metadata={"a": 2}, expected_version=0)
    in_time = await patch(session, {"If-Match": "*"}, metadata={"a": 2}, expected_version=1)

    assert [stale.status_code, weak.status_code, late.status_code] == [
        HTTPStatus.PRECONDITION_FAILED,
        HTTPStatus.PRECONDITION_FAILED,
        HTTPStatus.CONFLICT,
    ]
    assert (fresh.json()["version"], fresh.json()["metadata"]) == (1, {"a": 1})
    assert fresh.headers["etag"] == f'"{session.created["incarnation"]}-1"'
    assert (in_time.json()["version"], in_time.json()["metadata"]) == (2, {"a": 2})


async def test_the_version_counts_stored_changes_and_nothing_else(api: Api) -> None:
    session = await api.session()
    point = {"turn_id": "t", "model_call": 1, "sample": 1}
    capture = {"instructions": {"content": "x"}}
    versions = []

    await session.append(user("hi", "m1"), calls("c1", message_id="m2"))
    versions.append((await session.read())["version"])
    await session.append(user("hi", "m1"))
    versions.append((await session.read())["version"])
    await session.sample(capture)
    versions.append((await session.read())["version"])
    await session.sample(capture)
    versions.append((await session.read())["version"])
    versions.append((await session.prepare())["version"])
    versions.append((await session.prepare())["version"])
    everything = {**point, "sample": 2, "append": [user("more")], "world_state": capture}
    versions.append((await session.prepare(**everything))["version"])
    versions.append((await changed(session, metadata={"a": 1}))["version"])

    assert versions == [1, 1, 2, 2, 2, 2, 3, 4]


@ON_SQLITE
async def test_a_version_moves_the_time_of_the_last_change(api: Api) -> None:
    session = await api.session()
    created = session.created

    await session.prepare()
    unmoved = await session.read()
    after = await changed(session, metadata={"a": 1})

    assert unmoved["updated_at"] == created["updated_at"]
    assert after["updated_at"] > created["updated_at"]
    assert after["created_at"] == created["created_at"]


@ON_SQLITE
@pytest.mark.parametrize("name", ["parent_session_id", "created_at", "incarnation", "forked_from"])
async def test_what_a_session_is_never_changes(api: Api, name: str) -> None:
    session = await api.session()
    fields: Json = {name: session.created.get(name), "metadata": {"a": 1}}

    response = await patch(session, **fields)

    assert (response.status_code, response.json()["code"]) == (422, "immutable_field")
    assert (await session.read())["metadata"] == {}
