"""Skills on a disk, and a process that cannot open another file."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_skill(home: Path, directory_name: str, source: str) -> Path:
    """The path of a new SKILL.md."""
    directory = home / ".agents" / "skills" / directory_name
    directory.mkdir(parents=True)
    file = directory / "SKILL.md"
    file.write_bytes(source.encode())
    return file


@contextmanager
def no_free_descriptors() -> Iterator[None]:
    """Opening fails for every user, root too, while inspecting still works."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
