"""The databases of a run: a new one of each kind, gone when the run ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from bench.cases import Database
from tests.databases import execute, postgresql_database

_PLANNER = "ALTER DATABASE {} SET random_page_cost = 1.1"
"""PostgreSQL's default of 4 is meant for spinning disks. With the few and long
sessions of a run it makes the planner scan the whole table and sort on disk,
for the service and the floor alike, instead of following the primary key."""


@contextmanager
def databases(postgresql_server_url: str) -> Iterator[dict[Database, str]]:
    """The URLs of two empty databases."""
    with (
        TemporaryDirectory(prefix="foreword-bench-") as directory,
        postgresql_database(postgresql_server_url) as postgresql_url,
    ):
        execute(postgresql_url, _PLANNER.format(urlsplit(postgresql_url).path[1:]))
        yield {
            "sqlite": f"sqlite:///{Path(directory) / 'foreword.db'}",
            "postgresql": postgresql_url,
        }
