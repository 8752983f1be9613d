"""The service as a process of its own, on a free loopback port."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from demo.failure import DemoFailed

READY = "listening on "
START_SECONDS = 30
STOP_SECONDS = 40
"""Longer than the service gives to requests that are in flight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A service that answers at `address`."""

    process: subprocess.Popen[str]
    address: str
    log: Path

    def stop(self) -> None:
        """Send SIGTERM and wait for the end.

        Raises:
            DemoFailed: It does not end, or not with exit status 0.
        """
        self.process.terminate()
        try:
            status = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise DemoFailed(f"the service still ran {STOP_SECONDS} s after SIGTERM") from error
        if status != 0:
            raise DemoFailed(f"the service ended with status {status}: {_last_line(self.log)}")


@contextmanager
def running_server(directory: Path) -> Iterator[Server]:
    """A service with a fresh, migrated SQLite database in `directory`.

    However the block ends, no process is left behind.

    Raises:
        DemoFailed: The service does not come up.
    """
    log = directory / "server.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            _command(directory / "foreword.db"),
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
        ) as process,
    ):
        try:
            yield Server(process=process, address=_address(process, log), log=log)
        finally:
            # Does nothing where the process has ended.
            process.kill()


def _command(database: Path) -> list[str]:
    program = Path(sys.executable).with_name("foreword")
    if not program.exists():
        raise DemoFailed(f"there is no {program}; run `make setup` first")
    database_url = f"sqlite:///{database}"
    where = ["--host", "127.0.0.1", "--port", "0", "--database-url", database_url]
    return [str(program), "serve", *where, "--workers", "1", "--migrate"]


def _environment() -> dict[str, str]:
    """The environment without settings that would change what the demo shows."""
    return {name: value for name, value in os.environ.items() if not name.startswith("FOREWORD_")}


def _address(process: subprocess.Popen[str], log: Path) -> str:
    # `stdout` is a pipe, since `running_server` asks for one.
    assert process.stdout is not None
    with ThreadPoolExecutor(max_workers=1) as reader:
        line = reader.submit(process.stdout.readline)
        try:
            said = line.result(START_SECONDS)
        except TimeoutError as error:
            process.kill()
            raise DemoFailed(f"the service was not ready after {START_SECONDS} s") from error
    if not said.startswith(READY):
        raise DemoFailed(f"the service did not start: {_last_line(log)}")
    return said.removeprefix(READY).strip()


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line for line in reversed(lines) if line), "it gave no reason")
