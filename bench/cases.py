"""What is measured: requests to the service, each beside one to the floor."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, repeat
from typing import Literal, TypeAlias

from bench.client import Client, Request
from bench.conversation import Message, conversation, user_message

Database: TypeAlias = Literal["sqlite", "postgresql"]
CaseId: TypeAlias = Literal["append", "prepare.append", "prepare.unchanged", "context.numbers"]

SIZES = (1_000, 10_000)
"""Messages of the sessions that are measured, before the run adds its own."""

READS = 3
WRITES = 5
"""Requests of one round. A write is short, so it takes more of them for a steady median."""

_BATCH = 1_000
"""The most messages that one append takes."""

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
    """Make the sessions, one per size, of the same conversation."""
    messages = list(conversation(max(SIZES)))
    for size in SIZES:
        service.ask(_post("/v1/sessions", {"id": _session_id(size), **_SESSION}))
        for start in range(0, size, _BATCH):
            service.ask(_append(_session_id(size), *messages[start : start + _BATCH]))


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
    """Of every case: requests per round, those to the service, and those to the floor.

    The cases of a round share a session, which grows by a few messages in
    each. Its call is unchanged where a prepare came last, so that case follows.
    """
    session_id = _session_id(size)
    arriving = map(user_message, count(size))
    read = _get(f"/{session_id}")
    return {
        "append": (
            WRITES,
            (_append(session_id, message) for message in arriving),
            (_post(f"/{session_id}", message) for message in map(user_message, count(size))),
        ),
        "prepare.append": (
            READS,
            (_prepare(session_id, message) for message in arriving),
            repeat(read),
        ),
        "prepare.unchanged": (READS, repeat(_prepare(session_id)), repeat(read)),
        "context.numbers": (
            READS,
            repeat(_get(f"/v1/sessions/{session_id}/context?content=false")),
            repeat(read),
        ),
    }


def _session_id(size: int) -> str:
    return f"session-{size}"


def _append(session_id: str, *messages: Message) -> Request:
    return _post(f"/v1/sessions/{session_id}/messages", {"messages": messages})


def _prepare(session_id: str, *append: Message) -> Request:
    return _post(f"/v1/sessions/{session_id}/prepare", {"append": append} if append else {})


def _post(path: str, value: Message) -> Request:
    return Request(method="POST", path=path, body=json.dumps(value).encode())


def _get(path: str) -> Request:
    return Request(method="GET", path=path)
