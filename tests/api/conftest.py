"""The service in this process, on a migrated database of each kind."""

import shutil
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import pytest_asyncio

from tests.api.client import Api, SessionApi, assistant, service, user
from tests.api.compacting import Timed, timed_service
from tests.databases import postgresql_database


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client whose every response is held to openapi/openapi.json."""
    async with service(database_url) as client:
        yield client


@pytest.fixture
def api(client: httpx.AsyncClient) -> Api:
    """The same client with the calls that tests make most."""
    return Api(client=client)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def module_database_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A migrated database for all tests of a module, each with sessions of its own."""
    if request.param == "sqlite":
        template = request.getfixturevalue("sqlite_template")
        path = shutil.copy(template, tmp_path_factory.mktemp("module") / "foreword.db")
        yield f"sqlite:///{path}"
        return
    server_url = request.getfixturevalue("postgresql_server_url")
    template_url = request.getfixturevalue("postgresql_template_url")
    with postgresql_database(server_url, template_url=template_url) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def timed(module_database_url: str) -> AsyncIterator[Timed]:
    """A service for all tests of a module; its clock stands still until one of them turns it."""
    async with timed_service(module_database_url) as timed:
        yield timed


@pytest_asyncio.fixture(loop_scope="module")
async def talk(timed: Timed) -> SessionApi:
    """A session with one request and its answer."""
    session = await timed.session()
    await session.append(user("Fix the build.", "m1"), assistant("Done.", "m2"))
    return session
