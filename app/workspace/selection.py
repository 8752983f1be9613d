"""Skills that a user selects by hand: their bodies go into the conversation.

Source: docs/semantics/workspace.md#selected-skills.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.workspace.errors import SkillUnavailable
from app.workspace.paths import canonical, display
from app.workspace.skills import Skill, discover_skills


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSelection:
    """A skill as a user picked it. The path decides; the name must agree with it."""

    name: str
    path: Path


def select_skills(
    selections: Iterable[SkillSelection],
    home: Path | None,
    *,
    disabled_skills: frozenset[str] = frozenset(),
) -> tuple[Skill, ...]:
    """The selected skills in the order of selection, each canonical path once.

    Raises:
        SkillUnavailable: One is unknown, disabled, has another name, or lies
            past the scan limit.
    """
    available = {
        skill.path: skill
        for skill in discover_skills(home).skills
        if skill.name not in disabled_skills
    }
    selected: dict[str, Skill] = {}
    for selection in selections:
        skill = available.get(_canonical_path(selection))
        if skill is None or skill.name != selection.name:
            raise SkillUnavailable(selection.name)
        selected[skill.path] = skill
    return tuple(selected.values())


def skill_message_text(skill: Skill) -> str:
    """The text of the `skill_instruction` message that carries `skill`."""
    return f"<skill>\n<name>{skill.name}</name>\n<path>{skill.path}</path>\n{skill.body}\n</skill>"


def _canonical_path(selection: SkillSelection) -> str:
    try:
        return display(canonical(selection.path))
    except OSError as error:
        raise SkillUnavailable(selection.name) from error
