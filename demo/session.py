"""One session of the service, over HTTP."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from demo.answers import Call, GivenCall, HistoryPage, Page, SessionState, Stored
from demo.compaction_answers import Claimed, Reply
from demo.failure import DemoFailed

LARGEST_PAGE = 500
LARGEST_HISTORY_PAGE = 50
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

    def read(self) -> SessionState:
        """The session itself."""
        state: SessionState = send(self.client, "GET", f"/v1/sessions/{self.id}").json()
        return state

    def put_turn(self, turn_id: str, body: Mapping[str, object]) -> None:
        """Say what a turn does."""
        send(self.client, "PUT", f"/v1/sessions/{self.id}/turns/{turn_id}", body)

    def start_compaction(self, body: Mapping[str, object]) -> Claimed:
        """Claim a compaction."""
        claimed: Claimed = self._post("compactions", body).json()
        return claimed

    def complete(self, compaction_id: str, body: Mapping[str, object]) -> Reply:
        """Give a summary."""
        reply: Reply = self._post(f"compactions/{compaction_id}/complete", body).json()
        return reply

    def history(self, compaction_id: str) -> list[Stored]:
        """The messages that a compaction covers, in order."""
        path = (
            f"/v1/sessions/{self.id}/history"
            f"?compaction_id={compaction_id}&limit={LARGEST_HISTORY_PAGE}"
        )
        covered: list[Stored] = []
        after: int | None = 0
        while after is not None:
            page: HistoryPage = send(self.client, "GET", f"{path}&after_sequence={after}").json()
            covered += page["messages"]
            after = page["next_after_sequence"]
        return covered

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
