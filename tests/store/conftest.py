"""The service in this process, on a migrated database of each kind."""

from collections.abc import AsyncIterator

import pytest

from tests.api.client import Api, service


@pytest.fixture
async def api(database_url: str) -> AsyncIterator[Api]:
    """The service over HTTP; its every response is held to openapi/openapi.json."""
    async with service(database_url) as client:
        yield Api(client=client)


@pytest.fixture
async def sqlite_api(sqlite_url: str) -> AsyncIterator[Api]:
    """The same on SQLite alone, for what no database decides."""
    async with service(sqlite_url) as client:
        yield Api(client=client)


@pytest.fixture
async def api_on_postgresql(postgresql_url: str) -> AsyncIterator[Api]:
    """The same on PostgreSQL alone, for what only writers of different sessions meet."""
    async with service(postgresql_url) as client:
        yield Api(client=client)
