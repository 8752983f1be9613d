"""One session of the service, over HTTP."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from demo.answers import Call, GivenCall, Page, Stored
from demo.failure import DemoFailed

LARGEST_PAGE = 500
TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A prepared call and the exact bytes of its request."""

    call: Call
    request: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that a worker has created."""

    client: httpx.Client
    id: str

    def append(self, messages: Sequence[Mapping[str, object]]) -> None:
        """Append messages, all or none."""
        self._post("messages", {"messages": messages})

    def prepare(self, body: Mapping[str, object]) -> Prepared:
        """Append, sample and prepare as `body` says."""
        accept = {"Accept": "application/x-ndjson"}
        answer = self._post("prepare", body, accept).content
        about, request, _ = answer.split(b"\n")
        return Prepared(call=json.loads(about), request=request)

    def prepared(self, prepared_id: str) -> bytes:
        """The request of a call that was prepared before, built again."""
        return send(self.client, "GET", f"/v1/sessions/{self.id}/prepared/{prepared_id}").content

    def messages(self) -> list[Stored]:
        """Every stored message, in order."""
        path = f"/v1/sessions/{self.id}/messages?limit={LARGEST_PAGE}"
        page: Page = send(self.client, "GET", path).json()
        stored = page["items"]
        while (cursor := page["next_cursor"]) is not None:
            page = send(self.client, "GET", f"{path}&cursor={cursor}").json()
            stored += page["items"]
        return stored

    def _post(
        self, name: str, body: Mapping[str, object], headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        return send(self.client, "POST", f"/v1/sessions/{self.id}/{name}", body, headers)


def create_session(client: httpx.Client, session: Mapping[str, object]) -> Session:
    """A session made from the body of `POST /v1/sessions`."""
    made = send(client, "POST", "/v1/sessions", session).json()
    return Session(client=client, id=made["id"])


def prepare_given(client: httpx.Client, body: Mapping[str, object]) -> GivenCall:
    """A call of a conversation that is given whole; nothing is stored."""
    answer: GivenCall = send(client, "POST", "/v1/prepare", body).json()
    return answer


def send(
    client: httpx.Client,
    method: str,
    path: str,
    body: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """The answer of the service.

    Raises:
        DemoFailed: It refuses, or does not answer.
    """
    try:
        answer = client.request(method, path, json=body, headers=headers)
    except httpx.HTTPError as error:
        raise DemoFailed(f"{method} {path} got no answer: {error}") from error
    if answer.is_error:
        raise DemoFailed(
            f"{method} {path} was refused with {answer.status_code}: {_reason(answer)}"
        )
    return answer


def _reason(answer: httpx.Response) -> str:
    try:
        problem: dict[str, Any] = answer.json()
    except ValueError:
        return answer.text[:200]
    return f"{problem.get('code')}, {problem.get('detail')}"
