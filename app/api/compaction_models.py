"""Compactions on the wire."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, Field, model_validator

from app.api.answers import Answer
from app.api.message_models import RepairOut
from app.api.pair_models import PairOut, PairSummaryIn, planned_pairs_answer
from app.api.prepare_models import RequestOut
from app.api.summary_usage import SummaryUsageIn
from app.api.validation import WireModel
from app.api.wire import Count
from app.api.world_state_models import Ordinal
from app.compaction.provider_fold import ProviderFold
from app.compaction.record import (
    Compaction,
    CompactionKind,
    CompactionPhase,
    CompactionStatus,
    SummaryStyle,
)
from app.compaction.tool_pairs import BATCH
from app.core.blocks import ProviderOpaque
from app.core.ids import check_key
from app.services.claims import CompactionRequest
from app.services.compaction_answers import checkpoint_json
from app.services.complete import AttemptError, Completion, Failure
from app.services.pair_events import BatchCompletion
from app.services.provider_folds import FoldReport
from app.services.rewind import RewindTarget

RequestedKind: TypeAlias = Literal[
    "manual",
    "threshold",
    "overflow",
    "model_downshift",
    "comp_hash_changed",
    "prefetch",
    "provider",
]

_OF_A_PROVIDER = frozenset({"kind", "turn_id", "model_call", "through_sequence", "opaque"})
"""What the fold of a provider is told with: there is nothing to plan or to ask."""


StartedKind: TypeAlias = Literal[RequestedKind, "tool_pairs"]
"""Kinds that somebody may ask for; a batch of tool pairs folds nothing."""


class CompactionIn(WireModel):
    """A compaction to plan and claim; of kind `provider`, a fold that the provider made."""

    kind: StartedKind
    turn_id: str | None = None
    model_call: Ordinal | None = None
    phase: CompactionPhase | None = None
    instructions: str | None = None
    format: Literal["neutral"] = "neutral"
    summary_request_style: Literal["cached", "flat"] | None = None
    supersede: bool = False
    run: bool = False
    through_sequence: Count | None = None
    opaque: ProviderOpaque | None = None

    @model_validator(mode="after")
    def _is_of_one_sort(self) -> Self:
        fold = (self.through_sequence, self.opaque)
        if self.kind != "provider":
            if any(part is not None for part in fold):
                raise ValueError("only kind provider has through_sequence and opaque")
        elif None in fold or self.model_fields_set - _OF_A_PROVIDER:
            raise ValueError(
                "kind provider has through_sequence and opaque, and beside them only turn_id and"
                " model_call"
            )
        return self

    def provider_fold(self) -> FoldReport | None:
        """The provider's fold as the services take it; None of any other kind.

        Raises:
            InvalidId: No turn can have that id.
        """
        if self.through_sequence is None or self.opaque is None:
            return None
        if self.turn_id is not None:
            check_key(self.turn_id, "turn_id")
        return FoldReport(
            fold=ProviderFold(through_sequence=self.through_sequence, opaque=self.opaque),
            turn_id=self.turn_id,
            model_call=self.model_call,
        )

    @model_validator(mode="after")
    def _is_run_by_workers(self) -> Self:
        if self.run and self.kind == "tool_pairs":
            raise ValueError("the service runs no tool pairs: leave run out and ask a model")
        return self

    def request(self, key: str | None) -> CompactionRequest:
        """The compaction as the services take it.

        Raises:
            InvalidId: No turn can have that id.
        """
        if self.turn_id is not None:
            check_key(self.turn_id, "turn_id")
        return CompactionRequest(
            kind=self.kind,
            turn_id=self.turn_id,
            model_call=self.model_call,
            phase=self.phase,
            instructions=self.instructions,
            style=self.summary_request_style or "conversation",
            other_plan="supersede" if self.supersede else "refuse",
            key=key,
            runner="service" if self.run else "worker",
        )


class CompletionIn(WireModel):
    """A model's answer to a summary request."""

    claim: str
    attempt: Ordinal
    summary: str | None = None
    pairs: Annotated[list[PairSummaryIn], Field(max_length=BATCH)] | None = None
    finish_reason: str | None = None
    tool_calls: Count | list[Any] = 0
    usage: SummaryUsageIn | None = None

    @model_validator(mode="after")
    def _has_one_answer(self) -> Self:
        if (self.summary is None) == (self.pairs is None):
            raise ValueError("a completion has one of summary and pairs")
        if self.pairs is not None and self.usage is not None:
            raise ValueError("usage stands with each of the pairs")
        return self

    def completion(self) -> Completion | BatchCompletion:
        """The completion as the services take it.

        Raises:
            InvalidUsage: The provider's usage object is none.
        """
        if self.summary is None:
            given = tuple(pair.given() for pair in self.pairs or ())
            return BatchCompletion(claim=self.claim, attempt=self.attempt, pairs=given)
        calls = self.tool_calls
        return Completion(
            claim=self.claim,
            attempt=self.attempt,
            summary=self.summary,
            finish_reason=self.finish_reason,
            tool_calls=len(calls) if isinstance(calls, list) else calls,
            usage=None if self.usage is None else self.usage.usage(),
        )


class FailureReportIn(WireModel):
    """An attempt without an answer."""

    claim: str
    attempt: Ordinal
    error: AttemptError
    detail: Annotated[str, Field(max_length=2_000)] | None = None
    usage: SummaryUsageIn | None = None

    def failure(self) -> Failure:
        """The failure as the services take it.

        Raises:
            InvalidUsage: The provider's usage object is none.
        """
        return Failure(
            claim=self.claim,
            attempt=self.attempt,
            error=self.error,
            detail=self.detail,
            usage=None if self.usage is None else self.usage.usage(),
        )


class RewindIn(WireModel):
    """Where to go back to; exactly one of the fields."""

    compaction_id: str | None = None
    through_sequence: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    undo_compaction: str | None = None

    @model_validator(mode="after")
    def _has_one_target(self) -> Self:
        targets = (self.compaction_id, self.through_sequence, self.undo_compaction)
        if sum(target is not None for target in targets) != 1:
            raise ValueError(
                "a rewind has one of compaction_id, through_sequence and undo_compaction"
            )
        return self

    def target(self) -> RewindTarget:
        """The target as the services take it."""
        return RewindTarget(
            compaction_id=self.compaction_id,
            through_sequence=self.through_sequence,
            undo_compaction=self.undo_compaction,
        )


class ClaimOut(BaseModel):
    """A claim; its token is told only to whoever holds it."""

    token: str | None = None
    expires_at: str


class SourceOut(BaseModel):
    """What a compaction folds."""

    through_sequence: int
    message_count: int
    tokens: int
    counts: dict[str, int]


class CheckpointOut(BaseModel):
    """The stored result of a compaction or a rewind."""

    id: str
    sequence: int
    kind: CompactionKind
    through_sequence: int
    replaced_through_sequence: int
    last_user_message_id: str | None
    last_user_message_sequence: int | None
    summary: str | None
    runtime_reminder: str | None
    runtime_state: dict[str, Any] | None
    created_at: str


class CompactionOut(BaseModel):
    """A compaction in any of its states."""

    id: str
    status: CompactionStatus
    kind: CompactionKind
    style: SummaryStyle
    phase: CompactionPhase
    turn_id: str | None
    model_call: int | None
    attempt: int
    max_attempts: int
    compact_with_model: str | None
    plan_key: str | None
    base_version: int | None
    parent_compaction_id: str | None
    claim: ClaimOut | None
    source: SourceOut | None
    checkpoint: CheckpointOut | None
    tokens: dict[str, Any] | None
    code: str | None
    created_at: str
    updated_at: str
    summary_request: RequestOut | None = None
    pairs: list[PairOut] | None = None
    repairs: list[RepairOut] | None = None


class CompactionPageOut(BaseModel):
    """A page of compactions."""

    items: list[CompactionOut]
    next_cursor: str | None


class ReplyOut(BaseModel):
    """The answer to a report on an attempt."""

    status: Literal["pending", "completed", "failed"]
    attempt: int | None = None
    attempts_left: int | None = None
    rejected: dict[str, str] | None = None
    summary_request: RequestOut | None = None
    pairs: list[PairOut] | None = None
    skipped: list[list[str]] | None = None
    checkpoint: CheckpointOut | None = None
    tokens: dict[str, Any] | None = None
    window: dict[str, Any] | None = None
    code: str | None = None
    detail: str | None = None
    repairs: list[RepairOut] | None = None


def compaction_answer(compaction: Compaction, held_token: str | None = None) -> Answer:
    """A compaction without its summary request; a claim that the caller does not hold is null."""
    plan, claim, checkpoint = compaction.plan, compaction.claim, compaction.checkpoint
    with_profile = compaction.compact_with
    held = None
    if claim is not None and held_token is not None:
        held = {"token": held_token, "expires_at": claim.expires_at.isoformat()}
    source = None
    if plan is not None:
        source = {
            "through_sequence": plan.through_sequence,
            "message_count": plan.message_count,
            "tokens": plan.tokens["json_bytes"],
            "counts": plan.tokens,
        }
    return {
        "id": compaction.id,
        "status": compaction.status,
        "kind": compaction.kind,
        "style": compaction.style,
        "phase": compaction.phase,
        "turn_id": compaction.turn_id,
        "model_call": compaction.model_call,
        "attempt": compaction.attempt,
        "max_attempts": compaction.max_attempts,
        "compact_with_model": None if with_profile is None else with_profile.name,
        "plan_key": None if plan is None else plan.key,
        "base_version": None if plan is None else plan.base_version,
        "parent_compaction_id": compaction.parent_id,
        "claim": held,
        "source": source,
        "checkpoint": None if checkpoint is None else checkpoint_json(compaction, checkpoint),
        "tokens": compaction.tokens,
        "code": compaction.failure_code,
        "created_at": compaction.created_at.isoformat(),
        "updated_at": compaction.updated_at.isoformat(),
        **planned_pairs_answer(plan),
    }
