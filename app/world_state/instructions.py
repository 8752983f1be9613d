"""The instructions section: the project's AGENTS.md, verbatim.

Source: docs/semantics/world-state.md#instructions.
"""

import binascii
import posixpath
from base64 import b64decode

from app.core.text import is_blank
from app.world_state.capture import (
    Captured,
    EncodedInstructions,
    Instructions,
    Project,
)
from app.world_state.errors import ProjectInstructionError
from app.world_state.rendering import Rendering
from app.world_state.sections import INSTRUCTIONS

FILE_NAME = "AGENTS.md"
"""The one file that is read, in the working directory and not in the repository root."""

MAX_BYTES = 65_536
"""Bytes of the file. Larger is refused, since a cut instruction may mean its opposite."""


def instructions_path(project: Captured[Project]) -> str:
    """The path that messages name: in the captured working directory, else the bare name."""
    if isinstance(project, Project):
        return posixpath.join(project.working_directory, FILE_NAME)
    return FILE_NAME


def render_instructions(instructions: Instructions | EncodedInstructions, path: str) -> Rendering:
    """The text of the instructions section, absent where the file is blank.

    Raises:
        ProjectInstructionError: The file has more than 65 536 bytes, or is
            not valid base64 or UTF-8.
    """
    content = _content(instructions, path)
    size = len(content)
    if size > MAX_BYTES:
        raise _refusal(
            f"project instruction file is too large: {path} ({size} bytes, maximum {MAX_BYTES})"
        )
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise _refusal(f"project instruction file is not valid UTF-8: {path}") from error
    if is_blank(text):
        return Rendering(text=None)
    return Rendering(text=f"{INSTRUCTIONS.open_tag}\n{text}\n</project_instructions>")


def _content(instructions: Instructions | EncodedInstructions, path: str) -> bytes:
    if isinstance(instructions, Instructions):
        return instructions.content.encode()
    try:
        return b64decode(instructions.content_base64.encode(), validate=True)
    except binascii.Error as error:
        raise _refusal(f"project instruction file is not valid base64: {path}") from error


def _refusal(detail: str) -> ProjectInstructionError:
    return ProjectInstructionError(detail, key=INSTRUCTIONS.id)
