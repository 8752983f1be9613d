"""The servers of a run, each in a process of its own."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from threading import Timer

from app.settings import PREFIX, UNPREFIXED

_ANNOUNCEMENT = "listening on "
START_SECONDS = 60
STOP_SECONDS = 10


class NotStarted(Exception):
    """A server ended before it listened."""


@contextmanager
def service(database_url: str) -> Iterator[str]:
    """The address of `foreword serve` on a migrated database."""
    command = [str(Path(sys.executable).with_name("foreword")), "serve", "--migrate"]
    with _server([*command, "--port", "0", "--database-url", database_url]) as address:
        yield address


@contextmanager
def floor(database_url: str) -> Iterator[str]:
    """The address of the floor on a database that the service has filled."""
    with _server([sys.executable, "-m", "bench.floor", database_url]) as address:
        yield address


@contextmanager
def _server(command: Sequence[str]) -> Iterator[str]:
    with Popen(command, stdout=PIPE, text=True, env=_environment()) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except TimeoutExpired:
                process.kill()


def _address(process: Popen[str]) -> str:
    # A server that hangs is ended, which ends the line that is waited for.
    overdue = Timer(START_SECONDS, process.kill)
    overdue.start()
    line = process.stdout.readline() if process.stdout else ""
    overdue.cancel()
    if not line.startswith(_ANNOUNCEMENT):
        raise NotStarted(f"{process.args!r} did not start")
    return line.removeprefix(_ANNOUNCEMENT).strip()


def _environment() -> dict[str, str]:
    """The environment without settings, so that every run is one of the defaults."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(PREFIX) and name not in UNPREFIXED.values()
    }
