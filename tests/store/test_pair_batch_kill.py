"""The service is killed around every step of a batch of tool pairs: nothing is half installed."""

from collections.abc import Iterator

import pytest

from tests.api.client import AGENT, Json, calls, results, succeeded, user
from tests.api.tool_pairs import FIRST_TEN, SUMMARY, told
from tests.store.mortal_service import MortalService

SESSION = "/v1/sessions/s"


@pytest.fixture
def service(database_url: str) -> Iterator[MortalService]:
    service = MortalService(database_url)
    yield service
    service.kill()


def shown(service: MortalService) -> list[str]:
    """Where each message of the next request comes from."""
    body = {"include": ["provenance"]}
    prepared = succeeded(service.post(f"{SESSION}/prepare", body))
    return [entry.get("message_id") or entry["reason"] for entry in prepared["provenance"]]


@pytest.mark.long
def test_a_batch_survives_a_kill_around_each_of_its_steps(service: MortalService) -> None:
    policy: Json = {"preset": "openwork", "tool_pair_summarization": True, "tool_call_cutoff": 0}
    body = {"id": "s", "model": "model-a", "agent": AGENT, "policy": policy}
    succeeded(service.post("/v1/sessions", body))
    ids = [*FIRST_TEN, "c10"]
    messages = [each for id_ in ids for each in (calls(id_), results(id_))]
    succeeded(service.post(f"{SESSION}/messages", {"messages": [*messages, user("more", "u")]}))
    first = service.post(f"{SESSION}/compactions", {"kind": "tool_pairs"}, "k")
    service.restart()
    again = service.post(f"{SESSION}/compactions", {"kind": "tool_pairs"}, "k")
    batch = first.json()
    path = f"{SESSION}/compactions/{batch['id']}/complete"
    said = {"claim": batch["claim"]["token"], "attempt": 1, "pairs": told(batch)}
    service.kill_during(path, said, 1)
    half_way = shown(service)
    completed = succeeded(service.post(path, said))
    service.restart()

    assert again.json() == batch
    assert half_way.count(SUMMARY) in (0, 10)
    assert succeeded(service.post(path, said)) == completed
    assert shown(service)[:10] == [SUMMARY] * 10
    assert len(shown(service)) == 13
