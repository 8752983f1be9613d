"""A section that fails: nothing is stored, unless its policy says what stands in for it."""

from http import HTTPStatus
from typing import Any

import pytest

from tests.api.captures import (
    INSTRUCTIONS_ID,
    PROJECT_ID,
    REPLACES_INSTRUCTIONS,
    WHOLE,
    goals,
    rendered,
    rules,
    told,
)
from tests.api.client import Api, Json, SessionApi, user
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

POINT: Json = {"turn_id": "t", "model_call": 1, "sample": 1}
FAILED: Json = {"error": {"code": "symlink", "detail": "AGENTS.md must not be a symlink"}}
TOO_LARGE = rules("x" * 65_537)


async def refused(session: SessionApi, path: str, **fields: Any) -> tuple[int, str, str]:
    response = await session.post(path, {**POINT, **fields})
    problem = response.json()
    return response.status_code, problem["code"], problem["key"]


async def everything(session: SessionApi) -> tuple[object, ...]:
    return await session.read(), await session.messages(), await session.read("world-state")


@requirement(
    "OW-3-failed-section-fails-the-sample",
    "OW-3-failed-write-changes-nothing",
    "OW-3-baseline-moves-after-all-writes",
)
async def test_S24_a_section_that_fails_stores_nothing_and_moves_no_baseline(api: Api) -> None:
    session = await api.session()
    await session.sample(rules("old"))
    before = await everything(session)
    failing = {**WHOLE, **goals("x" * 50_000)}

    outcome = await refused(session, "world-state", model_call=2, capture=failing)

    assert outcome == (422, "section_over_limit", "team~goals")
    assert await everything(session) == before

    mended = await session.sample(WHOLE, model_call=2)

    assert not mended["replayed"]
    assert [message["id"].split(":")[-1] for message in mended["emitted"]] == [
        PROJECT_ID,
        INSTRUCTIONS_ID,
        "skills/catalog",
        "runtime/sandbox-policy",
    ]
    assert told(mended)[1].startswith(REPLACES_INSTRUCTIONS)


@requirement("OW-11-instructions-refused", "OW-3-instructions-refused")
async def test_S27_instructions_over_64_KiB_fail_the_turn_and_the_next_one_works(api: Api) -> None:
    session = await api.session()
    before = await everything(session)

    outcome = await refused(
        session, "prepare", append=[user("hi", "m1")], world_state=TOO_LARGE, include=["items"]
    )

    assert outcome == (422, "project_instruction_error", INSTRUCTIONS_ID)
    assert await everything(session) == before

    prepared = await session.prepare(
        **POINT, append=[user("hi", "m1")], world_state=rules("x" * 65_536)
    )

    assert prepared["appended"] == [{"id": "m1", "sequence": 1}]
    assert told(prepared["world_state"]) == [rendered("x" * 65_536)]


@ON_SQLITE
async def test_S37_what_the_worker_could_not_read_is_passed_on(api: Api) -> None:
    session = await api.session()

    response = await session.post("world-state", {**POINT, "capture": {"instructions": FAILED}})

    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert response.json()["detail"] == "AGENTS.md must not be a symlink"
    assert response.json()["capture_code"] == "symlink"


@ON_SQLITE
async def test_of_several_sections_that_fail_the_first_is_told(api: Api) -> None:
    session = await api.session()
    capture = {"skills": FAILED, "project": FAILED, "sandbox": FAILED}

    outcome = await refused(session, "world-state", capture=capture)

    assert outcome == (422, "user_project_context_error", PROJECT_ID)


@ON_SQLITE
@pytest.mark.parametrize("name", ["instructions", INSTRUCTIONS_ID])
async def test_a_section_that_may_be_skipped_says_nothing_and_keeps_its_baseline(
    api: Api, name: str
) -> None:
    session = await api.session()
    await session.sample(rules("old"))

    skipped = await session.sample(
        {**WHOLE, "instructions": FAILED}, model_call=2, on_error={name: "skip"}
    )
    unchanged = await session.sample(rules("old"), model_call=3)

    assert [section["id"] for section in skipped["sections"]] == [
        PROJECT_ID,
        "skills/catalog",
        "runtime/sandbox-policy",
    ]
    assert skipped["warnings"] == [
        {
            "code": "project_instruction_error",
            "section": INSTRUCTIONS_ID,
            "detail": "AGENTS.md must not be a symlink (the section is skipped)",
        }
    ]
    assert unchanged["emitted"] == []


@ON_SQLITE
async def test_a_section_may_stay_as_it_was_when_it_was_last_good(api: Api) -> None:
    session = await api.session()
    on_error = {"instructions": "last_good", "skills": "last_good"}
    await session.sample(rules("good"))

    kept = await session.sample(TOO_LARGE, model_call=2, on_error={"instructions": "last_good"})
    never_good = await session.sample({"skills": FAILED}, model_call=3, on_error=on_error)

    assert kept["emitted"] == []
    assert kept["sections"] == [
        {"id": INSTRUCTIONS_ID, "state": "known", "changed": False, "text_bytes": 51}
    ]
    assert kept["warnings"][0]["detail"].endswith("(the section is kept at its last good text)")
    assert never_good["sections"] == []
    assert never_good["warnings"][0]["detail"].endswith("(the section is skipped)")


@ON_SQLITE
async def test_a_prepare_takes_failure_policies_beside_its_capture(api: Api) -> None:
    session = await api.session()
    world_state = {"capture": {**rules("x"), "project": FAILED}, "on_error": {"project": "skip"}}

    prepared = await session.prepare(**POINT, world_state=world_state)

    assert told(prepared["world_state"]) == [rendered("x")]
    assert [warning["section"] for warning in prepared["world_state"]["warnings"]] == [PROJECT_ID]


@ON_SQLITE
async def test_no_failure_policy_covers_a_section_that_cannot_be(api: Api) -> None:
    session = await api.session()
    custom = {"custom": [{"id": "mine", "tag": "available_skills", "body": "x"}]}

    outcome = await refused(session, "world-state", capture=custom, on_error={"mine": "skip"})

    assert outcome == (422, "invalid_custom_section", "mine")
