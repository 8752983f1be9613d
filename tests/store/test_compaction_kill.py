"""The service is killed between every two steps of a compaction, and in the middle of some.

After each restart the session prepares, no message has changed, nothing is half installed, and the
step whose answer may have been lost is repeated: it gets the same answer, or does its work now.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus

import pytest

from tests.api.client import AGENT, Json, calls, results, succeeded, user
from tests.api.compacting import LINE, LONG, POINT, summary_of
from tests.api.requests import badly_paired
from tests.store.mortal_service import MortalService

SESSION = "/v1/sessions/s"
SUMMARY_ID = ":summary"


@dataclass(slots=True, kw_only=True)
class Worker:
    """A worker that outlives its service."""

    service: MortalService
    stored: list[Json] = field(default_factory=list)
    """Every message that it appended and read back."""

    def append(self, *messages: Json) -> None:
        succeeded(self.service.post(f"{SESSION}/messages", {"messages": messages}))
        self.stored = self.messages()

    def messages(self) -> list[Json]:
        """What is stored, without what a compaction says of it."""
        items = self.service.read(f"{SESSION}/messages", limit=500)["items"]
        return [{**item, "covered_by": None} for item in items]

    def survive(self, path: str, body: Json, key: str | None = None) -> Json:
        """Make a call, kill the service, and make it again: the answer is the same."""
        first = self.service.post(f"{SESSION}/{path}", body, key)
        self.service.restart()
        self.check()
        second = self.service.post(f"{SESSION}/{path}", body, key)

        assert first.status_code in (HTTPStatus.OK, HTTPStatus.CREATED), first.text
        assert second.json() == first.json()
        return succeeded(second)

    def survive_half_way(self, path: str, body: Json, answers_meanwhile: int) -> Json:
        """Make a call, kill the service while it is at it, and make it again."""
        self.service.kill_during(f"{SESSION}/{path}", body, answers_meanwhile)
        self.check()
        return self.call(path, body)

    def call(self, path: str, body: Json) -> Json:
        return succeeded(self.service.post(f"{SESSION}/{path}", body))

    def check(self) -> None:
        """Nothing is lost and nothing is half there."""
        prepared = self.service.post(f"{SESSION}/prepare", {**POINT, "include": ["provenance"]})
        session = self.service.read(SESSION)
        compactions = self.service.read(f"{SESSION}/compactions")["items"]
        installed = [made for made in compactions if made["checkpoint"] is not None]
        request = succeeded(prepared)["request"]
        shown = [entry.get("id") for entry in prepared.json()["provenance"]]

        assert self.messages() == self.stored
        assert badly_paired(request["messages"]) == []
        assert session["window"]["number"] == len(installed)
        assert session["latest_compaction_id"] == (installed[-1]["id"] if installed else None)
        assert [made["status"] for made in compactions].count("pending") <= 1
        assert [id_ for id_ in shown if id_ and id_.endswith(SUMMARY_ID)] == [
            f"{made['id']}{SUMMARY_ID}" for made in installed[-1:] if made["checkpoint"]["summary"]
        ]


@pytest.fixture
def service(database_url: str) -> Iterator[MortalService]:
    service = MortalService(database_url)
    yield service
    service.kill()


@pytest.fixture
def worker(service: MortalService) -> Worker:
    """A worker whose session is over its line, in a turn that outlives the test."""
    body = {"id": "s", "model": "model-a", "model_profile": LINE, "agent": AGENT}
    succeeded(service.post("/v1/sessions", body))
    turn = {"status": "running", "lease_seconds": 86_400}
    succeeded(service.client.put(f"{SESSION}/turns/t", json=turn))
    worker = Worker(service=service)
    worker.append(user(LONG, "m1"), calls("c1", message_id="m2"))
    worker.append(results("c1", message_id="m3"), user("Go on.", "m4"))
    return worker


@pytest.mark.long
def test_a_compaction_survives_a_kill_between_every_two_of_its_steps(worker: Worker) -> None:
    started = worker.survive("prepare", {**POINT, "start_compaction": True}, "prepare-1")
    held = started["decision"]["compaction"]
    path = f"compactions/{held['id']}"
    said = report(held, 1, summary="no")
    rejected = worker.survive_half_way(f"{path}/complete", said, answers_meanwhile=1)
    overflowed = worker.survive(f"{path}/fail", report(held, 2, error="context_overflow"))
    said = report(held, 3, summary=summary_of("a parser"))
    completed = worker.survive_half_way(f"{path}/complete", said, answers_meanwhile=2)
    succeeded(worker.service.client.put(f"{SESSION}/turns/t", json={"status": "completed"}))
    rewound = worker.survive("rewind", {"undo_compaction": held["id"]}, "rewind-1")
    failed = fail_one_and_complete_another(worker)

    assert [answer["status"] for answer in (rejected, overflowed, completed)] == [
        "pending",
        "pending",
        "completed",
    ]
    assert rewound["checkpoint"]["kind"] == "rewind"
    assert failed["code"] == "summary_retries_exhausted"
    assert worker.service.read(SESSION)["window"]["number"] == 3


def fail_one_and_complete_another(worker: Worker) -> Json:
    """The answer to the last failure; what follows it is started anew and installed."""
    held = worker.call("compactions", {"kind": "manual"})
    path = f"compactions/{held['id']}/fail"
    for attempt in (1, 2):
        worker.call(path, report(held, attempt, error="timeout"))
    failed = worker.survive(path, report(held, 3, error="timeout"))
    again = worker.call("compactions", {"kind": "manual"})
    said = report(again, 1, summary=summary_of("a lexer"))
    worker.call(f"compactions/{again['id']}/complete", said)
    worker.check()
    return failed


def report(held: Json, attempt: int, **said: str) -> Json:
    return {"claim": held["claim"]["token"], "attempt": attempt, **said}
