"""A whole workspace as one capture, the document that a worker sends.

Source: docs/semantics/workspace.md#capture.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from app.core.canonical import Json
from app.workspace.errors import SectionError, SectionErrorCode
from app.workspace.instructions import read_instructions
from app.workspace.paths import canonical, display
from app.workspace.project import ProjectContext, read_project
from app.workspace.skills import Skill, SkillWarning, discover_skills

SandboxMode: TypeAlias = Literal["auto", "accept-edits"]

_Section = TypeVar("_Section")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFacts:
    """How the worker confines its shell, which no directory can tell.

    Whether the workspace contains `home` decides what the shell may write.
    """

    available: bool
    mode: SandboxMode
    workspace: Path
    home: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionFailure:
    """Why a section is not there; the service refuses or skips it, as it is told."""

    code: SectionErrorCode
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceCapture:
    """What was read. Warnings are for the worker's log and not part of the document."""

    project: ProjectContext | SectionFailure
    instructions: str | SectionFailure | None
    skills: tuple[Skill, ...]
    disabled_skills: frozenset[str]
    sandbox: SandboxFacts | None
    warnings: tuple[SkillWarning, ...]


def capture_workspace(
    cwd: Path,
    home: Path | None,
    *,
    sandbox: SandboxFacts | None = None,
    disabled_skills: frozenset[str] = frozenset(),
) -> WorkspaceCapture:
    """Read the workspace of a session that works in `cwd` for the user of `home`.

    A section that cannot be read is a value of the capture, not an exception.
    Without `home` there are no skills, without `sandbox` no sandbox section.
    """
    discovery = discover_skills(home)
    return WorkspaceCapture(
        project=_section(read_project, cwd),
        instructions=_section(read_instructions, cwd),
        skills=discovery.skills,
        disabled_skills=disabled_skills,
        sandbox=None if sandbox is None else _resolved_sandbox(sandbox),
        warnings=discovery.warnings,
    )


def capture_document(capture: WorkspaceCapture) -> dict[str, Json]:
    """The JSON value of a capture, ready for `app.core.canonical.encode`."""
    document: dict[str, Json] = {
        "project": _project_value(capture.project),
        "instructions": _instructions_value(capture.instructions),
        "skills": [_skill_value(skill, capture.disabled_skills) for skill in capture.skills],
    }
    if capture.sandbox is not None:
        document["sandbox"] = _sandbox_value(capture.sandbox)
    return document


def _section(read: Callable[[Path], _Section], cwd: Path) -> _Section | SectionFailure:
    try:
        return read(cwd)
    except SectionError as error:
        return SectionFailure(code=error.code, detail=error.detail)


def _resolved_sandbox(sandbox: SandboxFacts) -> SandboxFacts:
    """The facts with canonical paths, so that a link cannot hide a home inside the workspace."""
    return replace(sandbox, workspace=_resolved(sandbox.workspace), home=_resolved(sandbox.home))


def _resolved(path: Path) -> Path:
    try:
        return canonical(path)
    except OSError:
        return path


def _project_value(project: ProjectContext | SectionFailure) -> Json:
    if isinstance(project, SectionFailure):
        return _failure_value(project)
    return {
        "working_directory": project.working_directory,
        "repository_root": project.repository_root,
        "entries": [{"name": entry.name, "type": entry.type} for entry in project.entries],
    }


def _instructions_value(instructions: str | SectionFailure | None) -> Json:
    if isinstance(instructions, SectionFailure):
        return _failure_value(instructions)
    return None if instructions is None else {"content": instructions}


def _skill_value(skill: Skill, disabled_skills: frozenset[str]) -> Json:
    return {
        "name": skill.name,
        "description": skill.description,
        "path": skill.path,
        "enabled": skill.name not in disabled_skills,
    }


def _sandbox_value(sandbox: SandboxFacts) -> Json:
    return {
        "available": sandbox.available,
        "mode": sandbox.mode,
        "workspace": display(sandbox.workspace),
        "home": display(sandbox.home),
    }


def _failure_value(failure: SectionFailure) -> Json:
    return {"error": {"code": failure.code, "detail": failure.detail}}
