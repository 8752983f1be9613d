"""A service that is killed and started again on the same database."""

from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import httpx

from app.core import canonical
from tests.api.client import Json, succeeded
from tests.store.processes import STARTS_WITHIN_SECONDS, Server, serving

JSON = {"Content-Type": "application/json"}


class MortalService:
    """A running service; after a restart it is another process at another address."""

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._running = ExitStack()
        self._server, self.client = self._started()

    def restart(self) -> None:
        """Kill the process, whatever it is doing, and start another one."""
        self.kill()
        self._server, self.client = self._started()

    def kill(self) -> None:
        self._server.kill()
        self._running.close()

    def post(self, path: str, body: object, key: str | None = None) -> httpx.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.client.post(path, json=body, headers=headers)

    def read(self, path: str, **query: Any) -> Json:
        return succeeded(self.client.get(path, params=query))

    def kill_during(self, path: str, body: object, answers_meanwhile: int) -> None:
        """Send a request whose answer nobody reads, kill the process at it, and start another one.

        The more answers the process gives to others meanwhile, the further it gets with this one.
        """
        connection = HTTPConnection(urlsplit(self._server.url).netloc)
        connection.request("POST", path, canonical.encode(body), JSON)
        for _ in range(answers_meanwhile):
            self.client.get("/healthz")
        self.restart()
        connection.close()

    def _started(self) -> tuple[Server, httpx.Client]:
        server = self._running.enter_context(serving(self._database_url))
        client = httpx.Client(base_url=server.url, timeout=STARTS_WITHIN_SECONDS)
        return server, self._running.enter_context(client)
