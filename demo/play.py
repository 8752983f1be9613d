"""The demo from start to end: serve, replay, prepare the next call, prove it, stop."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from demo.answers import GivenCall
from demo.failure import DemoFailed
from demo.replay import Replay, Step, replay
from demo.report import Outcome, show
from demo.server import running_server
from demo.session import TIMEOUT_SECONDS, Session, create_session, prepare_given
from demo.transcript import read_transcript
from demo.workspace import copy_workspace

DATA = Path(__file__).with_name("data")
PROFILE = {"name": "coder", "context_window": 200_000, "max_output_tokens": 32_000}


def play(console: Console, directory: Path) -> None:
    """Play the demo in an empty directory and print what there is to see.

    Raises:
        DemoFailed: Something does not go as it should.
    """
    console.print("Starting foreword with a fresh SQLite database.")
    with running_server(directory) as server:
        console.print(f"It listens on {server.address}. Replaying the session.")
        with httpx.Client(
            base_url=server.address, timeout=TIMEOUT_SECONDS, trust_env=False
        ) as client:
            outcome = _outcome(client, directory)
        show(console, outcome)
        server.stop()
    console.print("The service got SIGTERM and ended with exit status 0.")


def _outcome(client: httpx.Client, directory: Path) -> Outcome:
    agent = json.loads((DATA / "agent.json").read_text(encoding="utf-8"))
    recording = read_transcript(DATA / "session.jsonl")
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
