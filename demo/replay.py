"""Sends the recorded session as a worker would: message by message, a prepare before each call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demo.answers import Call
from demo.failure import DemoFailed
from demo.session import Prepared, Session
from demo.transcript import Recorded
from demo.workspace import Workspace

END_OF_MESSAGES = b'],"temperature":'
"""Stands behind the messages of a neutral request and nowhere in them: a quote in a text is
escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A prepared call of the replay, and what became of it in the recording."""

    turn: int
    call: Call
    reported_input_tokens: int | None
    """What the provider counted for the call; None where it was never made or never ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The prepared calls in order, and the last one with its request."""

    steps: tuple[Step, ...]
    last: Prepared


def replay(session: Session, recording: Sequence[Recorded], workspace: Workspace) -> Replay:
    """Replay a recording that ends before a model call.

    The last word of a turn is appended. Everything else comes with the
    prepare of the next call, and so does a capture where a turn begins.

    Raises:
        DemoFailed: A request does not repeat the one before, and no reason is given.
    """
    steps: list[Step] = []
    last: Prepared | None = None
    unsent: list[Mapping[str, object]] = []
    for recorded, following in zip(recording, [*recording[1:], None], strict=True):
        unsent.append(recorded.message)
        if recorded.role == "assistant":
            if following is None or following.turn != recorded.turn:
                session.append(unsent)
                unsent = []
            continue
        begins_turn = recorded.role == "user"
        sample = _sample(workspace, recorded.turn) if begins_turn else {}
        prepared = session.prepare({"append": unsent, **sample})
        unsent = []
        check_prefix(last, prepared)
        last = prepared
        reported = None if following is None else following.reported_input_tokens
        steps.append(Step(turn=recorded.turn, call=prepared.call, reported_input_tokens=reported))
    if last is None:
        raise DemoFailed("the recording holds no message of a user")
    return Replay(steps=tuple(steps), last=last)


def _sample(workspace: Workspace, turn: int) -> dict[str, object]:
    """The capture before the first call of a turn, and the point at which it was taken."""
    workspace.before_turn(turn)
    return {
        "turn_id": f"turn-{turn}",
        "model_call": 1,
        "sample": 1,
        "world_state": workspace.capture(),
    }


def check_prefix(before: Prepared | None, after: Prepared) -> None:
    """Refuse a request that does not repeat the one before and does not say why.

    Raises:
        DemoFailed: It is one.
    """
    if before is None or after.call["prefix"]["cause"] is not None:
        return
    repeated, _, _ = before.request.rpartition(END_OF_MESSAGES)
    if not after.request.startswith(repeated):
        raise DemoFailed(
            f"{after.call['prepared_id']} does not repeat {before.call['prepared_id']}, "
            "and its prefix does not say why"
        )
