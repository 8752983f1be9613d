import os
from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A canonical home directory with an empty skill root."""
    directory = tmp_path.resolve() / "home"
    (directory / ".agents" / "skills").mkdir(parents=True)
    return directory


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    """A canonical working directory, as the messages name it."""
    directory = tmp_path.resolve() / "cwd"
    directory.mkdir()
    return directory


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path
