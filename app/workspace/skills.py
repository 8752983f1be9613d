"""The skills of a home directory.

Source: docs/semantics/workspace.md#skills.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.core.text import is_control
from app.workspace.errors import SkillUnreadable
from app.workspace.files import FileProblem, FileRefused, check_file, read_file
from app.workspace.frontmatter import is_skill_name, parse_skill
from app.workspace.paths import canonical, display, os_reason, utf8_text

SKILL_FILE = "SKILL.md"
"""One for each directory below the root."""

MAX_SKILL_BYTES = 65_536
"""Refused above this, never cut."""

MAX_SKILLS = 100
"""Skills that a scan loads; those that fail do not use it up."""

_DIRECTORY_NAME_REASON = "skill directory name does not match the required lowercase name format"
_SCAN_LIMIT_REASON = f"skill scan limit exceeded; only the first {MAX_SKILLS} skills are loaded"
_REFUSALS: dict[FileProblem, str] = {
    "symlink": "SKILL.md symbolic links are not supported",
    "not_regular": "SKILL.md is not a regular file",
    "too_large": "SKILL.md is too large: {size} bytes (maximum {limit})",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill; `path` is the canonical path of its SKILL.md."""

    name: str
    description: str
    path: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillWarning:
    """Why something under the skill root is not in the catalog; for people, not for the model."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDiscovery:
    """What a scan found, by name, and what it could not use."""

    skills: tuple[Skill, ...]
    warnings: tuple[SkillWarning, ...]


def discover_skills(home: Path | None) -> SkillDiscovery:
    """The skills in `home`/.agents/skills, one level; nothing where it is missing or unset."""
    if home is None:
        return SkillDiscovery(skills=(), warnings=())
    root = home / ".agents" / "skills"
    try:
        directories = _skill_directories(canonical(root))
    except FileNotFoundError:
        return SkillDiscovery(skills=(), warnings=())
    except OSError as error:
        reason = f"failed to read skill root: {os_reason(error)}"
        return SkillDiscovery(skills=(), warnings=(_warning(root, reason),))
    return _load_directories(directories)


def load_skill(path: Path) -> Skill:
    """The skill in the SKILL.md at `path`.

    Raises:
        SkillUnreadable: A rule is broken; its text is the reason.
    """
    try:
        located = _locate(path)
        located_text = _plain_text(located)
        source = _read_source(located)
    except FileRefused as refused:
        reason = _REFUSALS[refused.problem].format(size=refused.size_bytes, limit=MAX_SKILL_BYTES)
        raise SkillUnreadable(reason) from refused
    document = parse_skill(source, located.parent.name)
    return Skill(
        name=document.name,
        description=document.description,
        path=located_text,
        body=document.body,
    )


def _skill_directories(root: Path) -> list[Path]:
    with os.scandir(root) as entries:
        found = [
            root / entry.name
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        ]
    return sorted(found, key=os.fsencode)


def _load_directories(directories: Iterable[Path]) -> SkillDiscovery:
    skills: list[Skill] = []
    warnings: list[SkillWarning] = []
    for directory in directories:
        file = directory / SKILL_FILE
        if not is_skill_name(directory.name):
            warnings.append(_warning(directory, _DIRECTORY_NAME_REASON))
        elif len(skills) == MAX_SKILLS:
            warnings.append(_warning(directory, _SCAN_LIMIT_REASON))
        else:
            try:
                skills.append(load_skill(file))
            except SkillUnreadable as unreadable:
                warnings.append(_warning(file, str(unreadable)))
    return SkillDiscovery(skills=tuple(skills), warnings=tuple(warnings))


def _warning(path: Path, reason: str) -> SkillWarning:
    return SkillWarning(path=display(path), reason=reason)


def _locate(path: Path) -> Path:
    """The path of an accepted file in its canonical directory."""
    try:
        located = canonical(path.parent) / path.name
        check_file(located, MAX_SKILL_BYTES)
    except OSError as error:
        raise SkillUnreadable(f"failed to inspect SKILL.md: {os_reason(error)}") from error
    return located


def _plain_text(path: Path) -> str:
    text = utf8_text(path)
    if text is None:
        raise SkillUnreadable("SKILL.md absolute path is not valid UTF-8")
    if any(is_control(character) for character in text):
        raise SkillUnreadable("SKILL.md absolute path must not contain control characters")
    return text


def _read_source(path: Path) -> str:
    try:
        return read_file(path, MAX_SKILL_BYTES).decode()
    except UnicodeDecodeError as error:
        raise SkillUnreadable("SKILL.md is not valid UTF-8") from error
    except OSError as error:
        raise SkillUnreadable(f"failed to read SKILL.md: {os_reason(error)}") from error
