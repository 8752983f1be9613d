from pathlib import Path

from app.core.canonical import Json, encode
from app.workspace.capture import SandboxFacts, capture_document, capture_workspace
from app.workspace.skills import SkillWarning
from tests.requirements import requirement
from tests.unit.workspace.workspaces import write_skill


def skill_entry(path: Path, name: str, enabled: Json = True) -> Json:
    return {"name": name, "description": "d", "path": str(path), "enabled": enabled}


def test_an_empty_workspace_lists_three_sections(cwd: Path) -> None:
    capture = capture_workspace(cwd, None)

    assert capture_document(capture) == {
        "project": {"working_directory": str(cwd), "repository_root": None, "entries": []},
        "instructions": None,
        "skills": [],
    }


def test_a_whole_workspace_is_one_document(cwd: Path, home: Path) -> None:
    (cwd / ".git").mkdir()
    (cwd / "src").mkdir()
    (cwd / "AGENTS.md").write_text("规范\n", encoding="utf-8")
    path = write_skill(home, "commit", "---\ndescription: d\n---\n")

    document = capture_document(
        capture_workspace(
            cwd,
            home,
            sandbox=SandboxFacts(available=True, mode="auto", workspace=cwd, home=home),
        )
    )

    assert document == {
        "project": {
            "working_directory": str(cwd),
            "repository_root": str(cwd),
            "entries": [
                {"name": "AGENTS.md", "type": "file"},
                {"name": "src", "type": "directory"},
            ],
        },
        "instructions": {"content": "规范\n"},
        "skills": [skill_entry(path, "commit")],
        "sandbox": {
            "available": True,
            "mode": "auto",
            "workspace": str(cwd),
            "home": str(home),
        },
    }


@requirement("OW-3-failed-section-fails-the-sample")
def test_a_working_directory_that_is_gone_is_an_error_in_both_of_its_sections(
    cwd: Path, home: Path
) -> None:
    path = write_skill(home, "commit", "---\ndescription: d\n---\n")
    detail = (
        f"failed to resolve Session working directory {cwd}/gone: "
        "No such file or directory (os error 2)"
    )

    assert capture_document(capture_workspace(cwd / "gone", home)) == {
        "project": {"error": {"code": "user_project_context_error", "detail": detail}},
        "instructions": {"error": {"code": "project_instruction_error", "detail": detail}},
        "skills": [skill_entry(path, "commit")],
    }


def test_S27_instructions_that_are_too_large_leave_the_other_sections(cwd: Path) -> None:
    (cwd / "AGENTS.md").write_bytes(b"x" * 65_537)

    assert capture_document(capture_workspace(cwd, None)) == {
        "project": {
            "working_directory": str(cwd),
            "repository_root": None,
            "entries": [{"name": "AGENTS.md", "type": "file"}],
        },
        "instructions": {
            "error": {
                "code": "project_instruction_error",
                "detail": f"project instruction file is too large: {cwd}/AGENTS.md "
                "(65537 bytes, maximum 65536)",
            }
        },
        "skills": [],
    }


def test_S39_a_disabled_skill_stays_in_the_capture(cwd: Path, home: Path) -> None:
    commit = write_skill(home, "commit", "---\ndescription: d\n---\n")
    review = write_skill(home, "review", "---\ndescription: d\n---\n")

    capture = capture_workspace(cwd, home, disabled_skills=frozenset({"commit"}))

    assert capture_document(capture)["skills"] == [
        skill_entry(commit, "commit", enabled=False),
        skill_entry(review, "review"),
    ]


@requirement("OW-3-catalogue-warnings-stay-outside")
def test_warnings_are_not_part_of_the_document(cwd: Path, home: Path) -> None:
    bad = write_skill(home, "bad", "no frontmatter")

    capture = capture_workspace(cwd, home)

    assert capture.warnings == (
        SkillWarning(
            path=str(bad),
            reason="SKILL.md must start with YAML frontmatter delimited by --- lines",
        ),
    )
    assert capture_document(capture)["skills"] == []


def test_a_linked_home_is_seen_where_it_is(cwd: Path, tmp_path: Path) -> None:
    (tmp_path / "home-link").symlink_to(cwd)
    facts = SandboxFacts(
        available=False, mode="accept-edits", workspace=cwd, home=tmp_path / "home-link"
    )

    assert capture_document(capture_workspace(cwd, None, sandbox=facts))["sandbox"] == {
        "available": False,
        "mode": "accept-edits",
        "workspace": str(cwd),
        "home": str(cwd),
    }


def test_sandbox_paths_that_do_not_exist_are_kept_as_given(cwd: Path) -> None:
    facts = SandboxFacts(
        available=True, mode="auto", workspace=Path("/no/workspace"), home=Path("/no/home")
    )

    assert capture_document(capture_workspace(cwd, None, sandbox=facts))["sandbox"] == {
        "available": True,
        "mode": "auto",
        "workspace": "/no/workspace",
        "home": "/no/home",
    }


def test_two_captures_of_an_unchanged_workspace_are_equal_byte_for_byte(
    cwd: Path, home: Path
) -> None:
    for number in range(30):
        (cwd / f"f{number * 7 % 30}").touch()
        write_skill(home, f"s{number * 11 % 30}", "---\ndescription: d\n---\n")

    first, second = (encode(capture_document(capture_workspace(cwd, home))) for _ in range(2))

    assert first == second
