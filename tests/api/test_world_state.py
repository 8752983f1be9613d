"""World state over HTTP: the model is told what changed, once, and the baseline follows."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.api.captures import (
    COMMIT,
    INSTRUCTIONS_ID,
    PROJECT,
    PROJECT_ID,
    REMOVES_INSTRUCTIONS,
    REMOVES_SKILLS,
    REPLACES_INSTRUCTIONS,
    SANDBOX,
    SANDBOX_ID,
    SKILLS_ID,
    WHOLE,
    goals,
    rendered,
    rules,
    told,
)
from tests.api.client import Api, Json, SessionApi, text_block
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

ALL_IDS = [PROJECT_ID, INSTRUCTIONS_ID, SKILLS_ID, SANDBOX_ID]


async def sampled(session: SessionApi, model_call: int, capture: Json, **fields: Any) -> list[str]:
    """What the model is told by a sample of a later call."""
    return told(await session.sample(capture, model_call=model_call, **fields))


@requirement(
    "OW-3-changed-section-is-one-message",
    "OW-3-four-sections-in-order",
    "OW-3-message-id",
    "OW-11-first-sample-sends-all",
    "OW-1-workspace-context-is-conversation",
)
async def test_S1_S2_S3_all_sections_then_nothing_then_the_one_that_changed(api: Api) -> None:
    session = await api.session()

    first = await session.sample(WHOLE)
    again = await session.sample(WHOLE, model_call=2)
    moved = await session.sample({**WHOLE, "project": {"working_directory": "/x"}}, model_call=3)

    assert [message["id"] for message in first["emitted"]] == [
        f"world-state:t:1:1:{section}" for section in ALL_IDS
    ]
    assert [section["changed"] for section in first["sections"]] == [True] * 4
    assert [section["changed"] for section in again["sections"]] == [False] * 4
    assert again["emitted"] == []
    assert [message["id"] for message in moved["emitted"]] == [f"world-state:t:3:1:{PROJECT_ID}"]
    prepared = await session.prepare()
    assert [element["role"] for element in prepared["request"]["messages"]] == [
        "system",
        *["user"] * 5,
    ]


@requirement("OW-3-changed-section-is-one-message")
async def test_a_sample_is_answered_whole(api: Api) -> None:
    session = await api.session()

    answer = await session.sample(rules("规范"), turn_id="T1", model_call=2, sample=2)
    (message,) = answer["emitted"]

    assert answer == {
        "emitted": [
            {
                "id": f"world-state:T1:2:2:{INSTRUCTIONS_ID}",
                "sequence": 1,
                "session_id": "s",
                "turn_id": "T1",
                "role": "user",
                "kind": "world_state",
                "content": [text_block(rendered("规范"))],
                "agent_visible": True,
                "user_visible": False,
                "covered_by": None,
                "created_at": message["created_at"],
            }
        ],
        "sections": [{"id": INSTRUCTIONS_ID, "state": "known", "changed": True, "text_bytes": 53}],
        "warnings": [],
        "replayed": False,
        "repairs": [],
    }
    assert await session.messages() == answer["emitted"]


@requirement("OW-3-replacement-and-removal-notices")
async def test_S18_S19_notices_say_that_a_section_changed_or_went(api: Api) -> None:
    session = await api.session()
    await session.sample({**rules("old"), "skills": [COMMIT]})

    changed = await sampled(
        session, 2, {**rules("新规范"), "skills": [{**COMMIT, "enabled": False}]}
    )
    gone = await sampled(session, 3, rules(None))
    still_gone = await sampled(session, 4, rules(" \n"))
    back = await sampled(session, 5, rules("back"))

    assert changed == [f"{REPLACES_INSTRUCTIONS}\n\n{rendered('新规范')}", REMOVES_SKILLS]
    assert gone == [REMOVES_INSTRUCTIONS]
    assert still_gone == []
    assert back == [rendered("back")]


async def test_what_is_known_of_a_session_can_be_read(api: Api) -> None:
    session = await api.session()
    await session.sample({**rules("x"), "skills": None, "sandbox": SANDBOX})
    await session.sample(goals("ship"), model_call=2)

    await session.sample({**rules(None), **goals("ship")}, model_call=3)
    known = {
        section.pop("id"): section for section in (await session.read("world-state"))["sections"]
    }

    assert list(known) == [INSTRUCTIONS_ID, SKILLS_ID, SANDBOX_ID, "team~goals"]
    assert known[INSTRUCTIONS_ID] == {
        "baseline": {"state": "absent", "text": None},
        "message_id": f"world-state:t:3:1:{INSTRUCTIONS_ID}",
        "last_capture": {"state": "absent", "text": None},
    }
    assert known[SKILLS_ID] == {
        "baseline": {"state": "unknown", "text": None},
        "message_id": None,
        "last_capture": {"state": "absent", "text": None},
    }
    assert known["team~goals"] == {
        "baseline": {"state": "known", "text": "<goals>\nship\n</goals>"},
        "message_id": "world-state:t:2:1:team~goals",
        "last_capture": {"state": "known", "text": "<goals>\nship\n</goals>"},
    }


async def test_the_first_capture_of_a_point_wins(api: Api) -> None:
    session = await api.session()
    first = await session.sample(rules("first"))
    before = await session.read()

    second = await session.sample(rules("second"))
    prepared = await session.prepare(
        turn_id="t", model_call=1, sample=1, world_state=rules("third")
    )

    assert second == {**first, "replayed": True}
    assert prepared["world_state"]["replayed"]
    assert prepared["world_state"]["emitted"] == first["emitted"]
    assert prepared["version"] == before["version"]
    assert await sampled(session, 2, rules("first")) == []


async def test_a_sample_that_told_nothing_is_remembered_too(api: Api) -> None:
    session = await api.session()
    await session.sample(rules(None))

    again = await session.sample(rules("late"))

    assert (again["replayed"], again["emitted"]) == (True, [])
    assert again["sections"] == [
        {"id": INSTRUCTIONS_ID, "state": "absent", "changed": False, "text_bytes": 0}
    ]


@ON_SQLITE
async def test_a_section_left_out_is_not_an_absent_one(api: Api) -> None:
    session = await api.session()
    await session.sample(WHOLE)

    assert await sampled(session, 2, {}) == []
    assert await sampled(session, 3, {"skills": None}) == [REMOVES_SKILLS]


@ON_SQLITE
async def test_custom_sections_follow_ours_and_obey_the_same_rules(api: Api) -> None:
    session = await api.session()
    plan = {"id": "plan", "tag": "plan", "body": "1. Read", "removal_notice": "No plan."}
    both = {**WHOLE, "custom": [plan, *goals("ship")["custom"]]}

    first = await session.sample(both)
    changed = await sampled(
        session, 2, {"custom": [{**plan, "body": "2. Write"}, *goals("ship")["custom"]]}
    )
    removed = await sampled(session, 3, {"custom": [{**plan, "body": None}]})

    assert [section["id"] for section in first["sections"]] == [*ALL_IDS, "plan", "team~goals"]
    assert told(first)[4:] == ["<plan>\n1. Read\n</plan>", "<goals>\nship\n</goals>"]
    assert changed == [
        "The plan section below replaces the previous one.\n\n<plan>\n2. Write\n</plan>"
    ]
    assert removed == ["No plan."]


@ON_SQLITE
async def test_a_capture_and_a_session_that_disagree_about_the_sandbox_are_a_warning(
    api: Api,
) -> None:
    session = await api.session(sandbox_available=False)

    answer = await session.sample({"sandbox": SANDBOX})

    assert answer["warnings"] == [
        {
            "code": "sandbox_availability_differs",
            "section": SANDBOX_ID,
            "detail": answer["warnings"][0]["detail"],
        }
    ]
    assert "unavailable in the session" in answer["warnings"][0]["detail"]


@requirement("OW-3-catalogue-warnings-stay-outside")
@ON_SQLITE
async def test_S38_a_skill_that_finds_no_room_is_a_warning(api: Api) -> None:
    session = await api.session()
    skills = [
        {"name": f"skill-{n}", "description": "界" * 1_024, "path": f"/tmp/skill-{n}/SKILL.md"}
        for n in range(8)
    ]

    answer = await session.sample({"skills": skills})

    assert answer["warnings"] == [
        {
            "code": "skill_omitted",
            "section": SKILLS_ID,
            "detail": "skill omitted from catalog because the 8000 character limit was exceeded",
            "path": "/tmp/skill-7/SKILL.md",
        }
    ]
    (text,) = told(answer)
    assert len(text) == 7_682
    assert "skill-7" not in text


SECTIONS: Mapping[str, tuple[Json, str]] = {
    "S33": (
        {"project": {"working_directory": "/w", "repository_root": None, "entries": []}},
        '<user_project_context format_version="1">\nWorking directory: /w\n'
        "Repository root: None detected\nProject layout:\n- None\n</user_project_context>",
    ),
    "S34": (
        {"project": {**PROJECT, "entries": [{"name": "a<b>&\nc\td", "type": "file"}]}},
        '<user_project_context format_version="1">\nWorking directory: /w\nRepository root: /w\n'
        "Project layout:\n- a&lt;b&gt;&amp;\\nc\ufffdd\n</user_project_context>",
    ),
    "S46": (
        {"sandbox": {**SANDBOX, "mode": "accept-edits"}},
        "<sandbox_policy>\nmode: accept-edits\nworkspace: /w\n"
        "write / edit: can change files in the workspace.\n"
        "bash: runs in the sandbox and can write temporary directories; "
        "writes to the workspace need sandboxPermissions.\n</sandbox_policy>",
    ),
    "base64": ({"instructions": {"content_base64": "6KeE6IyD"}}, rendered("规范")),
}


@ON_SQLITE
@pytest.mark.parametrize(("capture", "text"), SECTIONS.values(), ids=SECTIONS)
async def test_a_section_is_rendered_byte_for_byte(api: Api, capture: Json, text: str) -> None:
    session = await api.session()

    assert await sampled(session, 1, capture) == [text]
