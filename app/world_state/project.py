"""The project section: working directory, repository root and top-level layout.

Source: docs/semantics/world-state.md#project.
"""

from collections.abc import Iterator

from app.core.text import escape_markup
from app.world_state.capture import Entry, EntryType, Project
from app.world_state.errors import UserProjectContextError
from app.world_state.rendering import Rendering
from app.world_state.sections import PROJECT

MAX_ENTRIES = 64
"""Entries listed; the rest is a count, so that a huge directory stays one short message."""

MAX_CHARS = 16_384
"""Code points of the whole text, tags included. Longer is refused: names are never cut."""

REPOSITORY_MARKER = ".git"
"""The entry that makes a directory a repository root; it is not part of the layout."""

_SUFFIXES: dict[EntryType, str] = {"directory": "/", "symlink": "@", "file": "", "other": ""}


def render_project(project: Project) -> Rendering:
    """The text of the project section.

    Raises:
        UserProjectContextError: It has more than 16 384 code points.
    """
    root = project.repository_root
    text = "\n".join(
        (
            f'{PROJECT.open_tag} format_version="1">',
            f"Working directory: {escape_markup(project.working_directory)}",
            f"Repository root: {'None detected' if root is None else escape_markup(root)}",
            "Project layout:",
            *_layout(project.entries),
            "</user_project_context>",
        )
    )
    if len(text) > MAX_CHARS:
        raise UserProjectContextError(
            f"user/project context exceeded {MAX_CHARS} characters", key=PROJECT.id
        )
    return Rendering(text=text)


def _layout(entries: tuple[Entry, ...]) -> Iterator[str]:
    # Names are sorted with their suffixes and before they are escaped: `a.txt` precedes `a/`.
    names = sorted(
        entry.name + _SUFFIXES[entry.type] for entry in entries if entry.name != REPOSITORY_MARKER
    )
    if not names:
        yield "- None"
    for name in names[:MAX_ENTRIES]:
        yield f"- {escape_markup(name)}"
    if len(names) > MAX_ENTRIES:
        yield f"- ... {len(names) - MAX_ENTRIES} additional entries omitted"
