"""Compactions as the contract's JSON: some of it is stored, so it is made here."""

from app.compaction.record import Checkpoint, Compaction
from app.core.stored import Session


def checkpoint_json(compaction: Compaction, checkpoint: Checkpoint) -> dict[str, object]:
    """A checkpoint as answers have it."""
    return {
        "id": compaction.id,
        "sequence": checkpoint.sequence,
        "kind": compaction.kind,
        "through_sequence": checkpoint.through_sequence,
        "replaced_through_sequence": checkpoint.replaced_through_sequence,
        "last_user_message_id": checkpoint.last_user_message_id,
        "last_user_message_sequence": checkpoint.last_user_message_sequence,
        "summary": checkpoint.summary,
        "runtime_reminder": checkpoint.runtime_reminder,
        "runtime_state": checkpoint.runtime_state,
        "created_at": checkpoint.created_at.isoformat(),
    }


def window_json(session: Session) -> dict[str, object]:
    """The identity of a session's window."""
    window = session.window
    return {
        "number": window.number,
        "id": f"{session.id}:{window.number}",
        "window_id": window.window_id,
        "first_window_id": window.first_window_id,
        "previous_window_id": window.previous_window_id,
    }


def pending_answer(compaction: Compaction, rejected: str | None) -> dict[str, object]:
    """The answer that asks for another attempt; the summary request is added to it."""
    answer: dict[str, object] = {
        "status": "pending",
        "attempt": compaction.attempt,
        "attempts_left": compaction.max_attempts - compaction.attempt + 1,
    }
    return answer if rejected is None else {**answer, "rejected": {"reason": rejected}}


def failed_answer(compaction: Compaction, code: str, detail: str | None) -> dict[str, object]:
    """The answer that ends a compaction without a summary."""
    attempts = compaction.attempt
    return {
        "status": "failed",
        "code": code,
        "detail": f"compaction summary failed after {attempts} attempts: {detail or 'no summary'}",
        "attempt": attempts,
    }


def completed_answer(
    compaction: Compaction, checkpoint: Checkpoint, session: Session
) -> dict[str, object]:
    """The answer to a summary that is installed."""
    return {
        "status": "completed",
        "checkpoint": checkpoint_json(compaction, checkpoint),
        "tokens": compaction.tokens,
        "window": window_json(session),
    }


def kept_answer(session: Session) -> dict[str, object]:
    """The answer to a summary that is kept for a fold to come; nothing is shown otherwise."""
    return {
        "status": "completed",
        "checkpoint": None,
        "tokens": None,
        "window": window_json(session),
    }
