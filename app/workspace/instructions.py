"""The AGENTS.md of a working directory.

Source: docs/semantics/workspace.md#instructions.
"""

from pathlib import Path

from app.core.text import is_blank
from app.workspace.errors import SectionError, SectionErrorCode
from app.workspace.files import FileProblem, FileRefused, check_file, read_file
from app.workspace.paths import canonical, display, os_reason, resolve_working_directory

INSTRUCTION_FILE = "AGENTS.md"
"""Read from the working directory alone, not from the repository root above it."""

MAX_INSTRUCTION_BYTES = 65_536
"""Refused above this, never cut: half a rule is worse than a failure that is seen."""

_CODE: SectionErrorCode = "project_instruction_error"
_REFUSALS: dict[FileProblem, str] = {
    "symlink": "project instruction file must not be a symlink: {path}",
    "not_regular": "project instruction path is not a regular file: {path}",
    "too_large": "project instruction file is too large: {path} ({size} bytes, maximum {limit})",
}


def read_instructions(cwd: Path) -> str | None:
    """The instructions for `cwd`, verbatim; None where there are none or only white space.

    Raises:
        SectionError: `cwd` cannot be resolved, or the file must not or cannot be read.
    """
    root = resolve_working_directory(cwd, _CODE)
    path = root / INSTRUCTION_FILE
    try:
        if not _is_there(path):
            return None
        content = _read_text(resolve_inside(path, root))
    except FileRefused as refused:
        raise _refusal(path, refused) from refused
    return None if is_blank(content) else content


def resolve_inside(path: Path, root: Path) -> Path:
    """The canonical form of `path`, which lies inside the canonical `root`.

    The file was no link a moment ago, so this fails only where another
    program changes the directory meanwhile.

    Raises:
        SectionError: It leads out of `root`, or is gone.
    """
    try:
        resolved = canonical(path)
    except OSError as error:
        raise _inspect_failure(path, error) from error
    if not resolved.is_relative_to(root):
        raise SectionError(
            _CODE,
            "project instruction resolved outside the Session working directory: "
            f"{display(resolved)}",
        )
    return resolved


def _is_there(path: Path) -> bool:
    try:
        check_file(path, MAX_INSTRUCTION_BYTES)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _inspect_failure(path, error) from error
    return True


def _read_text(path: Path) -> str:
    try:
        return read_file(path, MAX_INSTRUCTION_BYTES).decode()
    except UnicodeDecodeError as error:
        raise SectionError(
            _CODE, f"project instruction file is not valid UTF-8: {display(path)}"
        ) from error
    except OSError as error:
        raise SectionError(
            _CODE, f"failed to read project instruction file {display(path)}: {os_reason(error)}"
        ) from error


def _inspect_failure(path: Path, error: OSError) -> SectionError:
    return SectionError(
        _CODE, f"failed to inspect project instruction file {display(path)}: {os_reason(error)}"
    )


def _refusal(path: Path, refused: FileRefused) -> SectionError:
    detail = _REFUSALS[refused.problem].format(
        path=display(path), size=refused.size_bytes, limit=MAX_INSTRUCTION_BYTES
    )
    return SectionError(_CODE, detail)
