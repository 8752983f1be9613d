"""Replays the recorded session as a worker with turns: one prepare before each model call.

Where a call is too large, the worker compacts and prepares the same call again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from demo.answers import Call
from demo.compacting import Compacted, Point, compact
from demo.failure import DemoFailed
from demo.replay import check_prefix
from demo.session import Prepared, Session
from demo.tables import first_line
from demo.transcript import Recorded
from demo.workspace import Workspace

SHOWN = ["provenance", "items"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A prepared call and the model call that it is for."""

    point: Point
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A compaction between two prepares of the same model call."""

    before: Call
    compacted: Compacted
    after: Prepared


@dataclass(slots=True, kw_only=True)
class Worker:
    """Works through a recording and keeps what the service said."""

    session: Session
    workspace: Workspace
    asked: list[Asked] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    last: Prepared | None = None

    def work(self, recording: Sequence[Recorded]) -> None:
        """Work through a recording that ends before a model call; its last turn stays running.

        Raises:
            DemoFailed: A call cannot be made, or a request gives no reason for what it changes.
        """
        last_turn = recording[-1].turn
        for turn, group in groupby(recording, lambda recorded: recorded.turn):
            messages = tuple(group)
            plan = _plan(messages[0].message)
            self.session.put_turn(f"turn-{turn}", {"status": "running", "plan": plan})
            point, unsent = self._until_last_answer(turn, messages)
            if turn == last_turn:
                self._ask(point, unsent)
                return
            self.session.append(unsent)
            self.session.put_turn(f"turn-{turn}", {"status": "completed"})

    def _until_last_answer(
        self, turn: int, messages: Sequence[Recorded]
    ) -> tuple[Point, list[Mapping[str, object]]]:
        """The model call behind the last answer of a turn, and what is not sent by then."""
        point = Point(turn=turn, model_call=1)
        unsent: list[Mapping[str, object]] = []
        for recorded in messages:
            if recorded.role == "assistant":
                self._ask(point, unsent)
                unsent = []
                point = Point(turn=turn, model_call=point.model_call + 1)
            unsent.append(recorded.message)
        return point, unsent

    def _ask(self, point: Point, unsent: Sequence[Mapping[str, object]]) -> None:
        """Prepare a model call until it may be sent."""
        sampled: dict[str, object] = {}
        if point.model_call == 1:
            self.workspace.before_turn(point.turn)
            sampled = {"world_state": self.workspace.capture()}
        prepared = self._prepare(point, {"sample": 1, "append": unsent, **sampled})
        if prepared.call["decision"]["action"] == "compact":
            prepared = self._compact(point, prepared.call)
        decision = prepared.call["decision"]
        if decision["action"] != "submit":
            where = f"model call {point.model_call} of {point.turn_id}"
            raise DemoFailed(f"{where} may not be sent: {decision['detail']}")

    def _compact(self, point: Point, asked: Call) -> Prepared:
        """Compact, and prepare the call again; only the very first summary is spoiled."""
        compacted = compact(self.session, point, asked, 0 if self.folds else 1)
        capture = self.workspace.capture()
        after = self._prepare(point, {"sample": 2, "world_state": capture, "include": SHOWN})
        cause = after.call["prefix"]["cause"]
        if cause != "compaction":
            raise DemoFailed(f"after {compacted.id} the prefix names {cause} as its cause")
        self.folds.append(Fold(before=asked, compacted=compacted, after=after))
        return after

    def _prepare(self, point: Point, body: Mapping[str, object]) -> Prepared:
        prepared = self.session.prepare({**point.fields, **body})
        check_prefix(self.last, prepared)
        self.last = prepared
        self.asked.append(Asked(point=point, call=prepared.call))
        return prepared


def _plan(request: Mapping[str, object]) -> dict[str, object]:
    """A plan of one step: do what the user asked for."""
    match request["content"]:
        case [{"type": "text", "text": str(text)}, *_]:
            return {"steps": [{"step": first_line(text), "status": "in_progress"}]}
    return {"steps": []}
