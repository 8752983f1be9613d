"""One compaction as a worker makes it: claim, summarise until a summary is taken."""

from dataclasses import dataclass

from demo.answers import Call
from demo.compaction_answers import Claimed, Receipt, Reply
from demo.failure import DemoFailed
from demo.session import Session
from demo.summarizer import canned_summary, without_last_section


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A model call of a turn."""

    turn: int
    model_call: int

    @property
    def turn_id(self) -> str:
        """The id of the turn."""
        return f"turn-{self.turn}"

    @property
    def fields(self) -> dict[str, object]:
        """The point as requests name it."""
        return {"turn_id": self.turn_id, "model_call": self.model_call}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """A compaction that was installed."""

    point: Point
    id: str
    kind: str
    through_sequence: int
    rejections: tuple[str, ...]
    """Why summaries were not taken, in order."""
    tokens: Receipt
    window_number: int


def compact(session: Session, point: Point, asked: Call, spoiled_attempts: int) -> Compacted:
    """The compaction that a prepared call asks for; the first answers are spoiled on purpose.

    Raises:
        DemoFailed: It is another compaction than the call asked for, or it is not installed.
    """
    wanted = asked["decision"]["compaction"]
    if wanted is None:
        raise DemoFailed(f"{asked['prepared_id']} asks for a compaction without saying which")
    phase = "pre_turn" if point.model_call == 1 else "mid_turn"
    claimed = session.start_compaction({"kind": wanted["kind"], "phase": phase, **point.fields})
    if claimed["plan_key"] != wanted["plan_key"]:
        raise DemoFailed(f"{claimed['id']} folds otherwise than {asked['prepared_id']} asked for")
    rejections: list[str] = []
    reply: Reply = {
        "status": "pending",
        "attempt": claimed["attempt"],
        "summary_request": claimed["summary_request"],
    }
    while reply["status"] == "pending":
        reply = _answer(session, claimed, reply, spoiled_attempts)
        if "rejected" in reply:
            rejections.append(reply["rejected"]["reason"])
    if reply["status"] != "completed":
        raise DemoFailed(f"{claimed['id']} ended as {reply['status']}: {reply.get('detail')}")
    return Compacted(
        point=point,
        id=claimed["id"],
        kind=claimed["kind"],
        through_sequence=reply["checkpoint"]["through_sequence"],
        rejections=tuple(rejections),
        tokens=reply["tokens"],
        window_number=reply["window"]["number"],
    )


def _answer(session: Session, claimed: Claimed, pending: Reply, spoiled_attempts: int) -> Reply:
    attempt, summary = pending["attempt"], canned_summary(pending["summary_request"])
    if attempt <= spoiled_attempts:
        summary = without_last_section(summary)
    token = claimed["claim"]["token"]
    return session.complete(claimed["id"], {"claim": token, "attempt": attempt, "summary": summary})
