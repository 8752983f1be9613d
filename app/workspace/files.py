"""Reads one small regular file, without following a link and without blocking.

A file is checked twice: by name before it is opened, so that a device or a
FIFO is never opened on purpose, and through its descriptor afterwards, since
another program may have put something else in its place.

Source: docs/semantics/workspace.md#files.
"""

import os
import stat
from pathlib import Path
from typing import Literal, TypeAlias

FileProblem: TypeAlias = Literal["symlink", "not_regular", "too_large"]

_GUARDS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Opening a link fails and opening a FIFO returns at once, where the platform can do so."""


class FileRefused(Exception):
    """A file that is there but must not be read."""

    def __init__(self, problem: FileProblem, size_bytes: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.size_bytes = size_bytes


def check_file(path: Path, limit_bytes: int) -> None:
    """Accept `path` as a regular file of at most `limit_bytes`.

    Raises:
        FileRefused: It is a link, not a regular file, or too large.
        OSError: It cannot be inspected.
    """
    _accept(path.lstat(), limit_bytes)


def read_file(path: Path, limit_bytes: int) -> bytes:
    """The bytes of a regular file of at most `limit_bytes`.

    Never reads more than one byte past the limit, however the file grows.

    Raises:
        FileRefused: What was opened is not a regular file, or is too large.
        OSError: It cannot be opened or read; a link cannot be opened.
    """
    with open(path, "rb", opener=_open_guarded) as file:
        _accept(os.fstat(file.fileno()), limit_bytes)
        content = file.read(limit_bytes + 1)
    _accept_size(len(content), limit_bytes)
    return content


def _open_guarded(path: str, flags: int) -> int:
    return os.open(path, flags | _GUARDS)


def _accept(status: os.stat_result, limit_bytes: int) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise FileRefused("symlink", status.st_size)
    if not stat.S_ISREG(status.st_mode):
        raise FileRefused("not_regular", status.st_size)
    _accept_size(status.st_size, limit_bytes)


def _accept_size(size_bytes: int, limit_bytes: int) -> None:
    if size_bytes > limit_bytes:
        raise FileRefused("too_large", size_bytes)
