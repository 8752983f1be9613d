"""Compactions as they are stored.

Source: docs/semantics/compaction.md#records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from app.compaction.checkpoint_items import CheckpointItem
from app.compaction.view import View
from app.core.model_profile import ModelProfile

CompactionKind: TypeAlias = Literal[
    "manual",
    "threshold",
    "overflow",
    "model_downshift",
    "comp_hash_changed",
    "prefetch",
    "tool_pairs",
    "rewind",
    "provider",
]
CompactionStatus: TypeAlias = Literal["pending", "completed", "failed", "superseded"]
CompactionPhase: TypeAlias = Literal["pre_turn", "mid_turn", "standalone"]
SummaryStyle: TypeAlias = Literal["conversation", "cached", "flat"]
Runner: TypeAlias = Literal["worker", "service"]
"""Who asks the model: somebody outside, or the summarizer of the service."""

BACKGROUND_KINDS: frozenset[CompactionKind] = frozenset({"prefetch", "tool_pairs"})
"""Compactions that no call waits for, and that stand in the way of no other."""

MAX_ATTEMPTS = 3
"""Summaries that are asked for before a compaction fails (OpenWork's number)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who may answer for a compaction, and until when nobody else may take it over."""

    token: str
    expires_at: datetime
    key: str | None
    """The idempotency key of the request that took it: its repeat gets it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An event that was answered, so that its repeat gets the same answer."""

    attempt: int
    event_sha256: str
    answer: Mapping[str, object]
    rung: "Rung | None"
    """Of the summary request in the answer, which is built again for a repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """How much smaller than the first one a summary request has to be."""

    min_level: int
    overflowed_tokens: int | None
    """The estimate of the request before, where that one was reported as too big."""


FIRST_RUNG = Rung(min_level=0, overflowed_tokens=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPair:
    """Tool calls of one message and their results, which are summarised together."""

    call_ids: tuple[str, ...]
    message_ids: tuple[str, ...]
    sequences: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a compaction folds."""

    key: str
    base_version: int
    view_id: str | None
    """Whose view it was made from."""
    pruned_through: int | None
    """The watermark then, so that a repeated summary request has the same bytes."""
    shown_through: int
    """The session's last message then."""
    visibility_ordinal: int = 0
    """The last change of visibility then; none was made before changes could be."""
    keep_from: int
    """Index of the first shown item that stays behind the summary."""
    through_sequence: int
    message_count: int
    tokens: Mapping[str, object]
    """Of what is folded, by every counter."""
    anchor_message_id: str | None
    anchor_sequence: int | None
    pairs: tuple[PlannedPair, ...] = ()
    """What a batch of tool pairs summarises; nothing of any other kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The stored result of a compaction or a rewind."""

    sequence: int
    """Per session, from 1."""
    through_sequence: int
    """The fact boundary: what the summary speaks of."""
    replaced_through_sequence: int
    """The install boundary: what requests no longer show."""
    last_user_message_id: str | None
    last_user_message_sequence: int | None
    summary: str | None
    """None for a view without one: an undo, a rewind before every fold, a provider's fold, a batch
    of tool pairs, which has several."""
    runtime_reminder: str | None
    runtime_state: Mapping[str, object] | None
    created_at: datetime
    items: tuple[CheckpointItem, ...] = ()
    """What stands for the fold in requests; nothing for an undo or a rewind before every fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A compaction in any of its states."""

    id: str
    ordinal: int
    """Per session, in the order of their creation."""
    kind: CompactionKind
    status: CompactionStatus
    style: SummaryStyle
    turn_id: str | None
    model_call: int | None
    phase: CompactionPhase
    instructions: str | None
    parent_id: str | None
    """The compaction that a rewind goes back to or undoes."""
    previous_view_id: str | None
    """Whose view was shown before this one was installed."""
    attempt: int
    max_attempts: int
    rung: Rung
    """Of the next summary request."""
    plan: Plan | None
    """None for a rewind and for a provider's own fold."""
    claim: Claim | None
    runner: Runner = "worker"
    """Whose claim it is; the service takes its own over after a restart."""
    compact_with: ModelProfile | None = None
    """The model that is asked for the summary; None where it is the session's own."""
    issued_tokens: tuple[str, ...]
    """Every claim token: a late completion counts while the plan stands."""
    answered: tuple[Answered, ...]
    failure_code: str | None
    artifact: str | None = None
    """The summary of a prefetch, which is installed once a fold is due that it fits."""
    checkpoint: Checkpoint | None
    tokens: Mapping[str, object] | None
    view: View | None
    created_at: datetime
    updated_at: datetime

    @property
    def window_view_id(self) -> str | None:
        """The view that its window began with: tool pairs begin no window."""
        if self.kind != "tool_pairs" or self.view is None:
            return self.id
        return self.view.stands_on


def blank_compaction(
    compaction_id: str, ordinal: int, kind: CompactionKind, now: datetime
) -> Compaction:
    """A pending compaction of which nothing is known yet."""
    return Compaction(
        id=compaction_id,
        ordinal=ordinal,
        kind=kind,
        status="pending",
        style="conversation",
        turn_id=None,
        model_call=None,
        phase="standalone",
        instructions=None,
        parent_id=None,
        previous_view_id=None,
        attempt=0,
        max_attempts=0,
        rung=FIRST_RUNG,
        plan=None,
        claim=None,
        issued_tokens=(),
        answered=(),
        failure_code=None,
        checkpoint=None,
        tokens=None,
        view=None,
        created_at=now,
        updated_at=now,
    )
