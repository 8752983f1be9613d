"""The demo from start to end: serve, replay twice, prove what was said, stop."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from demo.answers import GivenCall
from demo.checks import check_originals, untouched_segments
from demo.compaction_report import CompactedOutcome, show_compactions
from demo.failure import DemoFailed
from demo.replay import Replay, Step, replay
from demo.report import Outcome, show
from demo.server import running_server
from demo.session import TIMEOUT_SECONDS, Session, create_session, prepare_given
from demo.transcript import Recorded, read_transcript
from demo.worker import Worker
from demo.workspace import copy_workspace

DATA = Path(__file__).with_name("data")
PROFILE = {"name": "coder", "context_window": 200_000, "max_output_tokens": 32_000}
FIRST_ENDS_IN_TURN = 6
"""The first session stops before the first call of this turn: all there is to see has happened."""

SMALL_PROFILE = {"name": "small-coder", "context_window": 64_000, "max_output_tokens": 8_000}
SMALL_POLICY = {"preset": "openwork", "auto_compact_percent": 50}
"""A line so low that the recording crosses it several times."""
LEAST_COMPACTIONS = 2


def play(console: Console, directory: Path) -> None:
    """Play the demo in an empty directory and print what there is to see.

    Raises:
        DemoFailed: Something does not go as it should.
    """
    console.print("Starting foreword with a fresh SQLite database.")
    agent = json.loads((DATA / "agent.json").read_text(encoding="utf-8"))
    recording = read_transcript(DATA / "session.jsonl")
    with running_server(directory) as server:
        console.print(f"It listens on {server.address}. Replaying the session.")
        with httpx.Client(
            base_url=server.address, timeout=TIMEOUT_SECONDS, trust_env=False
        ) as client:
            show(console, _outcome(client, agent, _beginning(recording), directory))
            show_compactions(console, _compacted(client, agent, recording, directory))
        server.stop()
    console.print("The service got SIGTERM and ended with exit status 0.")


def _beginning(recording: Sequence[Recorded]) -> Sequence[Recorded]:
    """The recording up to the user message that begins the turn in which the first session ends."""
    turns = [recorded.turn for recorded in recording]
    return recording[: turns.index(FIRST_ENDS_IN_TURN) + 1]


def _outcome(
    client: httpx.Client,
    agent: Mapping[str, Any],
    recording: Sequence[Recorded],
    directory: Path,
) -> Outcome:
    workspace = copy_workspace(DATA / "workspace", directory / "dev")
    session = create_session(
        client, {"id": "demo", "model": "coder", "model_profile": PROFILE, "agent": agent}
    )
    replayed = replay(session, recording, workspace)
    _prove(session, replayed)
    boundary = _end_of_turn_before_last(replayed.steps)
    return Outcome(
        message_count=len(recording),
        steps=replayed.steps,
        pruned=_pruned(client, session, agent, boundary),
    )


def _compacted(
    client: httpx.Client,
    agent: Mapping[str, Any],
    recording: Sequence[Recorded],
    directory: Path,
) -> CompactedOutcome:
    workspace = copy_workspace(DATA / "workspace", directory / "dev-small")
    session = create_session(
        client,
        {
            "id": "demo-small",
            "model": "small-coder",
            "model_profile": SMALL_PROFILE,
            "policy": SMALL_POLICY,
            "agent": agent,
        },
    )
    worker = Worker(session=session, workspace=workspace)
    worker.work(recording)
    state = session.read()
    if len(worker.folds) < LEAST_COMPACTIONS or state["pruned_through_sequence"] is None:
        raise DemoFailed("the small window was not full often enough to prune and compact")
    last = worker.folds[-1].compacted
    covered = session.history(last.id)
    return CompactedOutcome(
        asked=tuple(worker.asked),
        folds=tuple(worker.folds),
        covered_count=check_originals(covered, recording, last.through_sequence),
        segments=untouched_segments([asked.call for asked in worker.asked]),
        state=state,
    )


def _prove(session: Session, replayed: Replay) -> None:
    """Prepare the last call again, and have its request built again from what is stored."""
    last = replayed.last
    again = session.prepare({})
    if again.call["prepared_id"] != last.call["prepared_id"] or again.request != last.request:
        raise DemoFailed("preparing again without a change gave another call")
    if session.prepared(last.call["prepared_id"]) != last.request:
        raise DemoFailed(f"{last.call['prepared_id']} was not rebuilt to the same bytes")


def _end_of_turn_before_last(steps: Sequence[Step]) -> int:
    last_turn = steps[-1].turn
    return max(step.call["message_count"] for step in steps if step.turn < last_turn)


def _pruned(
    client: httpx.Client, session: Session, agent: Mapping[str, Any], boundary: int
) -> GivenCall:
    """The same call with the tool results up to a sequence shortened."""
    return prepare_given(
        client,
        {
            "model_profile": PROFILE,
            "system_parts": [{"key": "core/agent-system", "content": agent["system_prompt"]}],
            "tools": agent["tools"],
            "conversation": [
                {
                    "role": stored["role"],
                    "kind": stored["kind"],
                    "content": stored["content"],
                    "source": {"type": "real", "id": stored["id"], "sequence": stored["sequence"]},
                }
                for stored in session.messages()
            ],
            "prune": {"through_sequence": boundary},
        },
    )
