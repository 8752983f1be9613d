"""The states of a compaction, and what every event does in each of them.

Everything that may change a compaction's status is in this table. Whether a
claim is held or a summary is valid is found out before; the answer, the
attempts and the boundaries are written by whoever asks.

Source: docs/semantics/compaction.md#the-protocol.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from app.compaction.record import CompactionStatus

Request: TypeAlias = Literal[
    "request_same_plan",
    "request_same_plan_claim_expired",
    "request_other_plan",
    "request_other_plan_claim_expired",
    "request_superseding",
]
"""Somebody asks for a compaction of the session. A superseding one has another plan:
a plan that stands already is answered, whatever the request says."""

Report: TypeAlias = Literal[
    "complete_valid",
    "complete_invalid",
    "complete_on_moved_base",
    "fail_context_overflow",
    "fail_timeout",
    "fail_transient",
    "fail_deterministic",
    "fail_for_good",
    "attempts_exhausted",
    "no_smaller_request",
    "stale_report",
]
"""A worker reports on an attempt. A valid summary counts under every claim that was ever given;
any other report under a lost claim, or on another attempt than the current one, is stale.
`fail_for_good` is a deterministic failure of the service's own summarizer, which knows its endpoint
and asks no second time."""

Repeat: TypeAlias = Literal["equal_repeat"]
"""A report that was answered already."""

Change: TypeAlias = Literal["rewind", "other_completed", "agent_changed", "policy_changed"]
"""Something else changes what the plan stands on."""

Event: TypeAlias = Request | Report | Repeat | Change

Action: TypeAlias = Literal[
    "create",
    "answer",
    "take_over",
    "replace",
    "install",
    "next_attempt",
    "smaller_attempt",
    "fail",
    "supersede",
    "answer_stored",
    "refuse",
    "keep",
]
"""What is done: `answer` shows this compaction without a claim, `take_over` with a new one,
`replace` supersedes it and creates another, `smaller_attempt` climbs the ladder first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an event does, and the status of the compaction afterwards."""

    action: Action
    status: CompactionStatus
    code: str | None = None
    """Of the refusal or the failure."""


def transition(status: CompactionStatus, event: Event) -> Outcome:
    """What `event` does to a compaction of `status`.

    >>> transition("pending", "complete_valid")
    Outcome(action='install', status='completed', code=None)
    """
    return TRANSITIONS[status][event]


def on_attempt(
    report: Report, attempt: int, max_attempts: int, spends: frozenset[Report]
) -> Report:
    """The report as it counts on that attempt: the last one has none behind it.

    Args:
        report: What a worker says.
        attempt: The attempt that it speaks of, from 1.
        max_attempts: The last attempt that there may be.
        spends: The reports that use up an attempt.
    """
    is_spent = attempt >= max_attempts and report in spends
    return "attempts_exhausted" if is_spent else report


SPENDING: frozenset[Report] = frozenset(
    {
        "complete_invalid",
        "fail_context_overflow",
        "fail_timeout",
        "fail_transient",
        "fail_deterministic",
    }
)
"""The reports that use up an attempt where a smaller request is one more try (OpenWork)."""


def _pending(action: Action, code: str | None = None) -> Outcome:
    return Outcome(action=action, status="pending", code=code)


_SUPERSEDED = Outcome(action="supersede", status="superseded")
_REPLACED = Outcome(action="replace", status="superseded")

_PENDING: Mapping[Event, Outcome] = {
    "request_same_plan": _pending("answer"),
    "request_same_plan_claim_expired": _pending("take_over"),
    "request_other_plan": _pending("refuse", "compaction_in_progress"),
    "request_other_plan_claim_expired": _REPLACED,
    "request_superseding": _REPLACED,
    "complete_valid": Outcome(action="install", status="completed"),
    "complete_invalid": _pending("next_attempt"),
    "complete_on_moved_base": Outcome(
        action="refuse", status="superseded", code="conversation_moved"
    ),
    "fail_context_overflow": _pending("smaller_attempt"),
    "fail_timeout": _pending("next_attempt"),
    "fail_transient": _pending("next_attempt"),
    # OpenWork asks again after any failure; a fault of the request may be one of the moment.
    "fail_deterministic": _pending("next_attempt"),
    "fail_for_good": Outcome(action="fail", status="failed", code="summarizer_failed"),
    "attempts_exhausted": Outcome(action="fail", status="failed", code="summary_retries_exhausted"),
    "no_smaller_request": Outcome(action="fail", status="failed", code="cannot_fit"),
    "stale_report": _pending("refuse", "claim_lost"),
    "equal_repeat": _pending("answer_stored"),
    "rewind": _SUPERSEDED,
    "other_completed": _SUPERSEDED,
    "agent_changed": _SUPERSEDED,
    "policy_changed": _SUPERSEDED,
}


def _closed(status: CompactionStatus, same_plan: Action) -> dict[Event, Outcome]:
    """The row of a status that nothing leaves."""
    created = Outcome(action="create", status=status)
    refused = Outcome(action="refuse", status=status, code="compaction_closed")
    row: dict[Event, Outcome] = {}
    row |= dict.fromkeys(get_args(Request), created)
    row["request_same_plan"] = Outcome(action=same_plan, status=status)
    row["request_same_plan_claim_expired"] = row["request_same_plan"]
    row |= dict.fromkeys(get_args(Report), refused)
    row["equal_repeat"] = Outcome(action="answer_stored", status=status)
    row |= dict.fromkeys(get_args(Change), Outcome(action="keep", status=status))
    return row


TRANSITIONS: Mapping[CompactionStatus, Mapping[Event, Outcome]] = {
    "pending": _PENDING,
    "completed": _closed("completed", same_plan="answer"),
    "failed": _closed("failed", same_plan="create"),
    "superseded": _closed("superseded", same_plan="create"),
}
"""Every status and every event; nothing is left open."""
