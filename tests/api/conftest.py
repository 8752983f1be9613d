"""The service in this process, on a migrated database of each kind."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.api.client import Api, service


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client whose every response is held to openapi/openapi.json."""
    async with service(database_url) as client:
        yield client


@pytest.fixture
def api(client: httpx.AsyncClient) -> Api:
    """The same client with the calls that tests make most."""
    return Api(client=client)
