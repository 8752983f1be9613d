"""Edited paths: what the tools of a session changed, told by their artifacts.

Source: docs/semantics/compaction.md#edited-paths.
"""

from collections.abc import Iterable

from app.compaction.errors import StateError
from app.compaction.reading import object_of, text_of
from app.compaction.reminder import Section
from app.compaction.runtime_state import RuntimeState
from app.core.blocks import Artifact, ToolResult
from app.core.content import decode_content
from app.core.items import Item
from app.core.messages import Real
from app.core.text import is_blank

FILE_CHANGE_KIND = "file_change"
"""The only kind of artifact that means something here."""

MAX_EDITED_PATHS = 128
MAX_PATH_CHARS = 1_024
"""Code points. Both bound the reminder (OpenWork's numbers)."""


def artifacts_of(items: Iterable[Item]) -> tuple[Artifact, ...]:
    """The artifacts of real messages, in order. Only messages that hold some are parsed."""
    return tuple(
        artifact
        for item in items
        if isinstance(item.source, Real) and item.facts.content_bytes != item.facts.json_bytes
        for artifact in artifacts_in(item.content)
    )


def artifacts_in(content: bytes) -> tuple[Artifact, ...]:
    """The artifacts of the results in a content array, in order."""
    return tuple(
        artifact
        for block in decode_content(content)
        if isinstance(block, ToolResult)
        for artifact in block.artifacts
    )


def edited_paths(artifacts: Iterable[Artifact]) -> tuple[str, ...]:
    """The paths of all file changes that stand, distinct and sorted by code point.

    At most `MAX_EDITED_PATHS`, each cut to `MAX_PATH_CHARS` code points.

    Raises:
        StateError: A file change has no path, or does not say whether it was undone.
    """
    paths = {
        _standing_path(artifact) for artifact in artifacts if artifact.kind == FILE_CHANGE_KIND
    }
    return tuple(sorted(path for path in paths if not is_blank(path))[:MAX_EDITED_PATHS])


def edited_paths_section(state: RuntimeState) -> Section:
    """The edited paths for the reminder."""
    lines = tuple(f"- {path}" for path in state.edited_paths)
    return Section(title="Edited paths", lines=lines)


def _standing_path(artifact: Artifact) -> str:
    """The path of a file change; empty where the change was undone."""
    fields = object_of(artifact.payload, "file change artifact")
    path = text_of(fields.get("path"), "path of a file change artifact")
    undone = fields.get("undone")
    if not isinstance(undone, bool):
        raise StateError("undone of a file change artifact is not a JSON boolean", key="undone")
    return "" if undone else path[:MAX_PATH_CHARS]
