"""The `foreword` command as a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FOREWORD = str(Path(sys.executable).with_name("foreword"))
STARTS_WITHIN_SECONDS = 60
"""Long, since a machine that runs other tests beside this one may be slow."""

READY = "listening on "


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running service."""

    process: subprocess.Popen[str]
    url: str

    def kill(self) -> None:
        """End it without any chance to finish something."""
        self.process.kill()
        self.process.wait(STARTS_WITHIN_SECONDS)


@contextmanager
def serving(database_url: str, *options: str) -> Iterator[Server]:
    """`foreword serve` on a free port, from the line that says it is ready; killed at the end."""
    arguments = ["serve", "--port", "0", "--database-url", database_url, *options]
    with subprocess.Popen([FOREWORD, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(READY), line
            yield Server(process=process, url=line.removeprefix(READY).strip())
        finally:
            process.kill()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A `foreword` command that ends by itself."""
    return subprocess.run(
        [FOREWORD, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=STARTS_WITHIN_SECONDS,
    )
