"""What is measured: requests to the service, each beside one to the floor."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, repeat
from typing import Literal, TypeAlias

from bench.client import Client, Request
from bench.conversation import Message, conversation, user_message

Database: TypeAlias = Literal["sqlite", "postgresql"]
CaseId: TypeAlias = Literal["prepare.unchanged", "prepare.append", "context.numbers", "append"]

SIZES = (1_000, 10_000)
"""Messages of the sessions that are measured."""

READS = 3
WRITES = 10
"""Requests of one round. A write is short, so it takes more of them for a steady median."""

_BATCH = 1_000
"""The most messages that one append takes."""

_READ, _GROW = "read", "grow"
"""What a session is for: one whose unchanged call is measured must not grow."""

_SESSION: Message = {
    "model": "bench",
    "model_profile": {"name": "bench", "context_window": 100_000_000},
    "agent": {
        "system_prompt": "You are a careful coding agent.",
        "tools": [{"name": "read", "description": "Read a file.", "parameters": {}}],
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two that are compared: where it listens, and what it is asked in turn."""

    address: str
    requests: Iterator[Request]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One comparison of the service with the floor."""

    id: CaseId
    database: Database
    messages: int
    repeats: int
    subject: Side
    base: Side


def fill(service: Client) -> None:
    """Make the sessions: one per size and purpose, all of the same conversation."""
    messages = list(conversation(max(SIZES)))
    for size in SIZES:
        for purpose in (_READ, _GROW):
            session_id = _session_id(purpose, size)
            service.ask(_post("/v1/sessions", {"id": session_id, **_SESSION}))
            for start in range(0, size, _BATCH):
                service.ask(_append(session_id, messages[start : start + _BATCH]))


def cases(database: Database, service: str, floor: str) -> Iterator[Case]:
    """The comparisons on one database, given the addresses of the two servers."""
    for size in SIZES:
        for case_id, (repeats, subject, base) in _requests(size).items():
            yield Case(
                id=case_id,
                database=database,
                messages=size,
                repeats=repeats,
                subject=Side(address=service, requests=subject),
                base=Side(address=floor, requests=base),
            )


def _requests(size: int) -> dict[CaseId, tuple[int, Iterator[Request], Iterator[Request]]]:
    """Of every case: requests per round, those to the service, and those to the floor."""
    read, grow = _session_id(_READ, size), _session_id(_GROW, size)
    numbers, base_numbers = count(size), count(size)
    return {
        "prepare.unchanged": (READS, repeat(_prepare(read)), repeat(_get(f"/{read}"))),
        "prepare.append": (
            READS,
            (_prepare(grow, user_message(number)) for number in numbers),
            repeat(_get(f"/{grow}")),
        ),
        "context.numbers": (
            READS,
            repeat(_get(f"/v1/sessions/{read}/context?content=false")),
            repeat(_get(f"/{read}")),
        ),
        "append": (
            WRITES,
            (_append(grow, [user_message(number)]) for number in numbers),
            (_post(f"/{grow}", user_message(number)) for number in base_numbers),
        ),
    }


def _session_id(purpose: str, size: int) -> str:
    return f"{purpose}-{size}"


def _append(session_id: str, messages: list[Message]) -> Request:
    return _post(f"/v1/sessions/{session_id}/messages", {"messages": messages})


def _prepare(session_id: str, *append: Message) -> Request:
    return _post(f"/v1/sessions/{session_id}/prepare", {"append": append} if append else {})


def _post(path: str, value: Message) -> Request:
    return Request(method="POST", path=path, body=json.dumps(value).encode())


def _get(path: str) -> Request:
    return Request(method="GET", path=path)
