"""The project around a working directory: its repository root and top level.

Source: docs/semantics/workspace.md#project.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from app.workspace.errors import SectionError, SectionErrorCode
from app.workspace.paths import display, os_reason, resolve_working_directory, utf8_text

EntryType: TypeAlias = Literal["directory", "file", "symlink", "other"]

REPOSITORY_MARKER = ".git"
"""A directory, a worktree's file or a link: any entry of this name marks a repository."""

_CODE: SectionErrorCode = "user_project_context_error"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutEntry:
    """One name at the top level of a project; a link is a link, whatever it leads to."""

    name: str
    type: EntryType


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectContext:
    """Canonical paths, and the entries of the repository root or else of the directory."""

    working_directory: str
    repository_root: str | None
    entries: tuple[LayoutEntry, ...]


def read_project(cwd: Path) -> ProjectContext:
    """The project that `cwd` lies in.

    Raises:
        SectionError: `cwd` cannot be resolved, an ancestor not inspected, or
            the layout not read.
    """
    directory = resolve_working_directory(cwd, _CODE)
    root = find_repository_root(directory)
    return ProjectContext(
        working_directory=display(directory),
        repository_root=None if root is None else display(root),
        entries=read_layout(directory if root is None else root),
    )


def find_repository_root(directory: Path) -> Path | None:
    """The nearest of `directory` and its ancestors that holds a `.git`, or None.

    Raises:
        SectionError: The file system does not tell whether there is one.
    """
    for candidate in (directory, *directory.parents):
        if _is_there(candidate / REPOSITORY_MARKER):
            return candidate
    return None


def read_layout(directory: Path) -> tuple[LayoutEntry, ...]:
    """The entries of `directory`, one level, by name; `.git` and names not in UTF-8 left out.

    Raises:
        SectionError: The directory cannot be read.
    """
    try:
        with os.scandir(directory) as found:
            entries = [
                LayoutEntry(name=name, type=_entry_type(entry))
                for entry in found
                if (name := utf8_text(entry.name)) is not None and name != REPOSITORY_MARKER
            ]
    except OSError as error:
        raise SectionError(
            _CODE, f"failed to read project layout {display(directory)}: {os_reason(error)}"
        ) from error
    return tuple(sorted(entries, key=lambda entry: entry.name))


def _is_there(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SectionError(
            _CODE, f"failed to inspect project context path {display(path)}: {os_reason(error)}"
        ) from error
    return True


def _entry_type(entry: "os.DirEntry[str]") -> EntryType:
    if entry.is_symlink():
        return "symlink"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    if entry.is_file(follow_symlinks=False):
        return "file"
    return "other"
