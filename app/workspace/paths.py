"""Paths as the file system and a capture see them.

Names are bytes to the file system and UTF-8 text in a capture, whatever the
locale is.

Source: docs/semantics/workspace.md#paths.
"""

import errno
import os
from pathlib import Path

from app.workspace.errors import SectionError, SectionErrorCode


def canonical(path: Path) -> Path:
    """The absolute path behind `path`, without links and relative parts.

    Raises:
        OSError: It does not exist or cannot be resolved.
    """
    if "\0" in os.fspath(path):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return Path(os.path.realpath(path, strict=True))


def resolve_working_directory(cwd: Path, code: SectionErrorCode) -> Path:
    """The canonical form of `cwd`.

    Raises:
        SectionError: It cannot be resolved; the error carries `code`.
    """
    try:
        return canonical(cwd)
    except OSError as error:
        raise SectionError(
            code,
            f"failed to resolve Session working directory {display(cwd)}: {os_reason(error)}",
        ) from error


def utf8_text(path: Path | str) -> str | None:
    """A path or name as text, or None where its bytes are not UTF-8."""
    try:
        return os.fsencode(path).decode()
    except UnicodeDecodeError:
        return None


def display(path: Path) -> str:
    """A path as text, with U+FFFD in place of what is not UTF-8."""
    return os.fsencode(path).decode(errors="replace")


def os_reason(error: OSError) -> str:
    """The operating system's own words, as in `No such file or directory (os error 2)`."""
    return f"{error.strerror} (os error {error.errno})"
