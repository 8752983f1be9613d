from pathlib import Path

import pytest

from app.workspace.errors import SkillUnavailable
from app.workspace.selection import SkillSelection, select_skills, skill_message_text
from app.workspace.skills import Skill
from tests.requirements import requirement
from tests.unit.workspace.workspaces import write_skill


def source(body: str) -> str:
    return f"---\ndescription: d\n---\n\n{body}\n"


def refused(selection: SkillSelection, home: Path | None, *disabled: str) -> str:
    with pytest.raises(SkillUnavailable) as raised:
        select_skills([selection], home, disabled_skills=frozenset(disabled))
    return str(raised.value)


def test_selected_skills_keep_the_order_of_selection(home: Path) -> None:
    commit = write_skill(home, "commit", source("Commit."))
    review = write_skill(home, "review", source("Review."))

    selected = select_skills(
        [SkillSelection(name="review", path=review), SkillSelection(name="commit", path=commit)],
        home,
    )

    assert selected == (
        Skill(name="review", description="d", path=str(review), body="Review."),
        Skill(name="commit", description="d", path=str(commit), body="Commit."),
    )


def test_the_same_canonical_path_counts_once_in_the_place_of_the_first(
    home: Path, tmp_path: Path
) -> None:
    commit = write_skill(home, "commit", source("Commit."))
    review = write_skill(home, "review", source("Review."))
    (tmp_path / "link").symlink_to(commit)

    selected = select_skills(
        [
            SkillSelection(name="commit", path=tmp_path / "link"),
            SkillSelection(name="review", path=review),
            SkillSelection(name="commit", path=commit),
        ],
        home,
    )

    assert [skill.name for skill in selected] == ["commit", "review"]


def test_nothing_selected_is_nothing(home: Path) -> None:
    assert select_skills([], home) == ()


@requirement("OW-11-skill-snapshot-before-the-user-message")
def test_the_message_carries_name_path_and_body_unescaped(home: Path) -> None:
    path = write_skill(home, "commit", source("Create <b> & go."))
    (skill,) = select_skills([SkillSelection(name="commit", path=path)], home)

    assert skill_message_text(skill) == (
        f"<skill>\n<name>commit</name>\n<path>{path}</path>\nCreate <b> & go.\n</skill>"
    )


def test_a_skill_of_another_name_is_unavailable(home: Path) -> None:
    path = write_skill(home, "commit", source("Commit."))

    assert refused(SkillSelection(name="review", path=path), home) == (
        "Selected skill is unavailable: review"
    )


def test_a_disabled_skill_is_unavailable(home: Path) -> None:
    selection = SkillSelection(name="commit", path=write_skill(home, "commit", source("Commit.")))

    assert refused(selection, home, "commit") == "Selected skill is unavailable: commit"


def test_without_a_home_every_skill_is_unavailable(home: Path) -> None:
    selection = SkillSelection(name="commit", path=write_skill(home, "commit", source("Commit.")))

    assert refused(selection, None) == "Selected skill is unavailable: commit"


def test_a_file_that_is_not_there_is_unavailable(home: Path, tmp_path: Path) -> None:
    selection = SkillSelection(name="commit", path=tmp_path / "gone" / "SKILL.md")

    assert refused(selection, home) == "Selected skill is unavailable: commit"


def test_a_skill_outside_the_root_is_unavailable(home: Path, tmp_path: Path) -> None:
    path = write_skill(home, "commit", source("Commit."))
    outside = path.parent.rename(tmp_path / "commit") / "SKILL.md"

    assert refused(SkillSelection(name="commit", path=outside), home) == (
        "Selected skill is unavailable: commit"
    )


def test_a_skill_past_the_scan_limit_is_unavailable(home: Path) -> None:
    paths = [write_skill(home, f"skill-{number:03}", source("Body.")) for number in range(101)]

    assert refused(SkillSelection(name="skill-100", path=paths[100]), home) == (
        "Selected skill is unavailable: skill-100"
    )
