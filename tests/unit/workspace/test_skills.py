import os
import shutil
from pathlib import Path

import pytest

from app.workspace.errors import SkillUnreadable
from app.workspace.skills import Skill, SkillDiscovery, SkillWarning, discover_skills, load_skill
from tests.unit.workspace.workspaces import no_free_descriptors, write_skill

VALID = "---\ndescription: Valid.\n---\nBody\n"
NAME_REASON = "skill directory name does not match the required lowercase name format"
NOTHING = SkillDiscovery(skills=(), warnings=())


def names(discovery: SkillDiscovery) -> list[str]:
    return [skill.name for skill in discovery.skills]


def load_failure(path: Path) -> str:
    with pytest.raises(SkillUnreadable) as raised:
        load_skill(path)
    return str(raised.value)


def test_a_skill_is_found_with_its_canonical_path(home: Path) -> None:
    path = write_skill(
        home, "commit", "---\nname: commit\ndescription: Create commits.\n---\n\nBody\n"
    )

    assert discover_skills(home) == SkillDiscovery(
        skills=(
            Skill(
                name="commit",
                description="Create commits.",
                path=str(path),
                body="Body",
            ),
        ),
        warnings=(),
    )


def test_without_a_home_or_a_root_there_are_no_skills_and_no_warning(tmp_path: Path) -> None:
    assert discover_skills(None) == discover_skills(tmp_path) == NOTHING


def test_a_root_that_is_a_file_is_a_warning(home: Path) -> None:
    root = home / ".agents" / "skills"
    root.rmdir()
    root.touch()

    assert discover_skills(home) == SkillDiscovery(
        skills=(),
        warnings=(
            SkillWarning(
                path=str(root), reason="failed to read skill root: Not a directory (os error 20)"
            ),
        ),
    )


def test_a_root_that_cannot_be_opened_is_a_warning(home: Path) -> None:
    with no_free_descriptors():
        discovery = discover_skills(home)

    assert discovery == SkillDiscovery(
        skills=(),
        warnings=(
            SkillWarning(
                path=f"{home}/.agents/skills",
                reason="failed to read skill root: Too many open files (os error 24)",
            ),
        ),
    )


def test_a_linked_root_is_followed(home: Path, tmp_path: Path) -> None:
    write_skill(home, "commit", VALID)
    (home / ".agents" / "skills").rename(tmp_path / "elsewhere")
    (home / ".agents" / "skills").symlink_to(tmp_path / "elsewhere")

    discovery = discover_skills(home)

    assert [skill.path for skill in discovery.skills] == [f"{tmp_path}/elsewhere/commit/SKILL.md"]


def test_files_dot_directories_and_linked_directories_are_passed_over_in_silence(
    home: Path, tmp_path: Path
) -> None:
    write_skill(home, "visible", VALID)
    write_skill(home, ".hidden", VALID)
    outside = write_skill(home, "linked", VALID).parent
    shutil.move(outside, tmp_path / "linked")
    outside.symlink_to(tmp_path / "linked")
    (home / ".agents" / "skills" / "README.md").touch()

    discovery = discover_skills(home)

    assert (names(discovery), discovery.warnings) == (["visible"], ())


def test_only_one_level_is_scanned(home: Path) -> None:
    container = write_skill(home, "nested", VALID).parent
    container.rename(container.with_name("moved"))
    (container.with_name("container")).mkdir()
    container.with_name("moved").rename(container.with_name("container") / "nested")

    discovery = discover_skills(home)

    assert discovery == SkillDiscovery(
        skills=(),
        warnings=(
            SkillWarning(
                path=f"{home}/.agents/skills/container/SKILL.md",
                reason="failed to inspect SKILL.md: No such file or directory (os error 2)",
            ),
        ),
    )


def test_skills_are_ordered_by_name(home: Path) -> None:
    for name in ("zulu", "alpha", "a-b", "a2", "middle"):
        write_skill(home, name, VALID)

    assert names(discover_skills(home)) == ["a-b", "a2", "alpha", "middle", "zulu"]


@pytest.mark.parametrize("name", ["Uppercase", "has space", "line\nbreak", "-a", "a" * 65])
def test_a_directory_with_another_name_is_a_warning(home: Path, name: str) -> None:
    write_skill(home, name, VALID)

    assert discover_skills(home) == SkillDiscovery(
        skills=(),
        warnings=(SkillWarning(path=f"{home}/.agents/skills/{name}", reason=NAME_REASON),),
    )


def test_a_directory_name_that_is_not_utf8_is_a_warning(home: Path) -> None:
    write_skill(home, os.fsdecode(b"\xff"), VALID)

    assert discover_skills(home).warnings == (
        SkillWarning(path=f"{home}/.agents/skills/\ufffd", reason=NAME_REASON),
    )


def test_an_invalid_skill_is_a_warning_and_hides_no_sibling(home: Path) -> None:
    write_skill(home, "good", VALID)
    bad = write_skill(home, "bad", "---\nname: bad\n---\n")

    discovery = discover_skills(home)

    assert names(discovery) == ["good"]
    assert discovery.warnings == (
        SkillWarning(
            path=str(bad),
            reason="skill frontmatter is missing the required description field",
        ),
    )


def test_S43_of_101_skills_the_last_is_past_the_limit(home: Path) -> None:
    for number in range(101):
        write_skill(home, f"skill-{number:03}", VALID)

    discovery = discover_skills(home)

    assert names(discovery) == [f"skill-{number:03}" for number in range(100)]
    assert discovery.warnings == (
        SkillWarning(
            path=f"{home}/.agents/skills/skill-100",
            reason="skill scan limit exceeded; only the first 100 skills are loaded",
        ),
    )


def test_S43_a_failure_does_not_use_up_the_limit(home: Path) -> None:
    invalid = write_skill(home, "aaa-invalid", "---\nname: aaa-invalid\n---\n")
    for number in range(100):
        write_skill(home, f"skill-{number:03}", VALID)

    discovery = discover_skills(home)

    assert names(discovery) == [f"skill-{number:03}" for number in range(100)]
    assert [warning.path for warning in discovery.warnings] == [str(invalid)]


def test_past_the_limit_each_directory_is_a_warning_and_a_bad_name_still_the_name(
    home: Path,
) -> None:
    for number in range(100):
        write_skill(home, f"skill-{number:03}", VALID)
    write_skill(home, "skill-BAD", VALID)
    write_skill(home, "skill-x", VALID)
    write_skill(home, "skill-y", "not a skill")

    reasons = [warning.reason for warning in discover_skills(home).warnings]

    limit = "skill scan limit exceeded; only the first 100 skills are loaded"
    assert reasons == [NAME_REASON, limit, limit]


def test_exactly_65536_bytes_load(home: Path) -> None:
    path = write_skill(home, "commit", VALID.ljust(65_536, "x"))

    assert load_skill(path).body == "Body\n" + "x" * (65_536 - len(VALID))


def test_65537_bytes_are_refused(home: Path) -> None:
    path = write_skill(home, "commit", VALID.ljust(65_537, "x"))

    assert load_failure(path) == "SKILL.md is too large: 65537 bytes (maximum 65536)"


def test_bytes_that_are_not_utf8_are_refused(home: Path) -> None:
    path = write_skill(home, "commit", "")
    path.write_bytes(VALID.encode() + b"\xff")

    assert load_failure(path) == "SKILL.md is not valid UTF-8"


@pytest.mark.parametrize("target", ["../other/SKILL.md", "nowhere"])
def test_a_linked_file_is_refused(home: Path, target: str) -> None:
    write_skill(home, "other", VALID)
    path = write_skill(home, "commit", VALID)
    path.unlink()
    path.symlink_to(target)

    assert load_failure(path) == "SKILL.md symbolic links are not supported"


def test_a_directory_in_place_of_the_file_is_refused(home: Path) -> None:
    path = write_skill(home, "commit", VALID)
    path.unlink()
    path.mkdir()

    assert load_failure(path) == "SKILL.md is not a regular file"


def test_a_fifo_in_place_of_the_file_is_refused_and_does_not_block(home: Path, fifo: Path) -> None:
    path = write_skill(home, "commit", VALID)
    fifo.rename(path)

    assert load_failure(path) == "SKILL.md is not a regular file"


def test_a_file_that_cannot_be_opened_is_refused(home: Path) -> None:
    path = write_skill(home, "commit", VALID)

    with no_free_descriptors():
        reason = load_failure(path)

    assert reason == "failed to read SKILL.md: Too many open files (os error 24)"


@pytest.mark.parametrize(
    ("directory", "reason"),
    [
        ("tab\tbed", "SKILL.md absolute path must not contain control characters"),
        ("next\x85line", "SKILL.md absolute path must not contain control characters"),
        (os.fsdecode(b"\xff"), "SKILL.md absolute path is not valid UTF-8"),
    ],
    ids=["tab", "next line", "not UTF-8"],
)
def test_a_path_that_cannot_stand_in_a_catalog_line_is_refused(
    home: Path, directory: str, reason: str
) -> None:
    write_skill(home, "commit", VALID)
    moved = home.rename(home.with_name(directory))

    assert [warning.reason for warning in discover_skills(moved).warnings] == [reason]


def test_a_skill_behind_a_linked_directory_has_the_path_it_is_really_at(
    home: Path, tmp_path: Path
) -> None:
    path = write_skill(home, "commit", VALID)
    (tmp_path / "link").symlink_to(path.parent)

    assert load_skill(tmp_path / "link" / "SKILL.md").path == str(path)
