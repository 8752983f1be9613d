"""Usage on the wire: reports, their answers, and the series of a session."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from app.api.answers import Answer, decision_answer
from app.api.message_models import RepairOut
from app.api.prepare_models import DecisionOut
from app.api.provider_context_models import ProviderContextIn
from app.api.validation import WireModel
from app.api.world_state_models import Ordinal
from app.compaction.refusals import InvalidBoundary
from app.core import errors
from app.core.ids import check_key
from app.core.ledger import Event, LedgerEntry
from app.core.limits import AppendedMessage
from app.core.prefill import PrefillSource
from app.core.usage_report import LARGEST_TOKENS, InvalidUsage, UsageConflict, UsageNumbers
from app.importers.usage import UsageFormat, usage_from
from app.policies.window_status import WindowStatus
from app.services.given_limits import GivenStanding
from app.services.provider_contexts import ToldContext
from app.services.reported_calls import UsageReport
from app.services.sample_answers import SampleAnswer

Tokens = Annotated[int, Field(ge=0, le=LARGEST_TOKENS)]
CallerText = Annotated[str, Field(min_length=1, max_length=256)]
"""Whatever a provider calls its model or its reason to stop."""

REPORT_REFUSALS = (
    errors.PreparedNotFound,
    errors.EmptySystemContextKey,
    errors.EmptySystemContext,
    errors.DuplicateSystemContext,
    InvalidUsage,
    UsageConflict,
    InvalidBoundary,
)
"""What a report may be refused with, beside what an append may be refused with too."""

_NUMBERS = tuple(UsageNumbers.__dataclass_fields__)


class RawUsageIn(WireModel):
    """A provider's usage object as it came."""

    format: UsageFormat
    usage: Any


class UsageIn(WireModel):
    """What a provider reported of one call: numbers, or its own object; neither is no report."""

    turn_id: str | None = None
    model_call: Ordinal | None = None
    prepared_id: str | None = None
    model: CallerText
    input_tokens: Tokens | None = None
    cached_input_tokens: Tokens | None = None
    cache_write_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    reasoning_output_tokens: Tokens | None = None
    total_tokens: Tokens | None = None
    raw: RawUsageIn | None = None
    needs_follow_up: bool | None = None
    has_pending_input: bool = False
    new_context_requested: bool = False
    reasoning_included: bool = False
    finish_reason: CallerText | None = None
    has_text: bool | None = None
    has_tool_calls: bool | None = None
    provider_context: ProviderContextIn | None = None

    @model_validator(mode="after")
    def _says_it_once(self) -> Self:
        if self.raw is not None and any(getattr(self, name) is not None for name in _NUMBERS):
            raise ValueError("usage is given either raw or in numbers")
        return self

    def report(self) -> UsageReport:
        """The report as the services take it.

        Raises:
            InvalidId: No turn can have that id.
            InvalidUsage: The provider's object is none.
        """
        if self.turn_id is not None:
            check_key(self.turn_id, "turn_id")
        return UsageReport(
            turn_id=self.turn_id,
            model_call=self.model_call,
            prepared_id=self.prepared_id,
            model=self.model,
            numbers=self._numbers(),
            needs_follow_up=self.needs_follow_up,
            has_pending_input=self.has_pending_input,
            new_context_requested=self.new_context_requested,
            reasoning_included=self.reasoning_included,
            finish_reason=self.finish_reason,
            has_text=self.has_text,
            has_tool_calls=self.has_tool_calls,
            provider_context=self._told_context(),
        )

    def _told_context(self) -> ToldContext:
        if self.provider_context is not None:
            return self.provider_context.context()
        return "lost" if "provider_context" in self.model_fields_set else None

    def _numbers(self) -> UsageNumbers:
        if self.raw is not None:
            return usage_from(self.raw.format, self.raw.usage)
        return UsageNumbers(**{name: getattr(self, name) for name in _NUMBERS})


class WindowStatusOut(BaseModel):
    """How far the window is from its limits. Unknown is null."""

    active_context_tokens: int
    scope_tokens: int
    scope_limit_tokens: int | None
    hard_limit_tokens: int | None
    base_window_tokens_remaining: int | None
    hard_limit_reached: bool
    token_limit_reached: bool
    prefill_input_tokens: int | None
    prefill_source: PrefillSource
    percent_left: int | None


class TextOut(BaseModel):
    """A text block."""

    type: Literal["text"]
    text: str


class AppendedOut(BaseModel):
    """A message to append as it is; what is not known of it is left out."""

    id: str | None = None
    turn_id: str | None = None
    role: Literal["user"]
    content: list[TextOut]


class SampleDecisionOut(DecisionOut):
    """What the next call of the turn will be told."""

    roll_over: bool
    append: AppendedOut | None = Field(
        description="With `continue`: append it behind the partial answer, and call again."
    )


class ReportedOut(BaseModel):
    """What a report means for the next call."""

    status: WindowStatusOut
    decision: SampleDecisionOut


class UsageOut(ReportedOut):
    """The answer to a report, and what was mended in it."""

    repairs: list[RepairOut]


class UsageEntryOut(BaseModel):
    """A report of a call, or an event between two of them. Unknown is null."""

    at: str
    turn_id: str | None
    model_call: int | None
    prepared_id: str | None
    model: str
    estimated_input_tokens: int | None
    calibrated_input_tokens: int | None
    input_tokens: int | None
    cached_input_tokens: int | None
    expected_cached_tokens: int | None
    cache_write_tokens: int | None
    output_tokens: int | None
    reasoning_output_tokens: int | None
    total_tokens: int | None
    window_number: int
    late: bool
    estimated: bool = Field(description="Whether numbers that the provider left out are estimates.")
    event: Event | None
    cause: str | None


class UsagePageOut(BaseModel):
    """A page of a session's usage."""

    items: list[UsageEntryOut]
    next_cursor: str | None


def standing_answer(answer: SampleAnswer | GivenStanding) -> Answer:
    """Status and decision, after a report or of usage that is given."""
    decision = answer.decision
    return {
        "status": _status_answer(answer.status),
        "decision": {
            **decision_answer(decision),
            "roll_over": decision.roll_over,
            "append": None if decision.append is None else _appended(decision.append),
        },
    }


def entry_answer(entry: LedgerEntry) -> Answer:
    """An entry of the ledger as answers have it."""
    numbers, measures = entry.numbers, entry.measures
    return {
        "at": entry.at.isoformat(),
        "turn_id": entry.turn_id,
        "model_call": entry.model_call,
        "prepared_id": entry.prepared_id,
        "model": entry.model,
        "estimated_input_tokens": measures.estimated_tokens,
        "calibrated_input_tokens": measures.calibrated_tokens,
        "input_tokens": numbers.input_tokens,
        "cached_input_tokens": numbers.cached_input_tokens,
        "expected_cached_tokens": measures.expected_cached_tokens,
        "cache_write_tokens": numbers.cache_write_tokens,
        "output_tokens": numbers.output_tokens,
        "reasoning_output_tokens": numbers.reasoning_output_tokens,
        "total_tokens": numbers.total_tokens,
        "window_number": entry.window_number,
        "late": entry.is_late,
        "estimated": entry.is_estimated,
        "event": entry.event,
        "cause": entry.cause,
    }


def _appended(message: AppendedMessage) -> Answer:
    known = {"id": message.id, "turn_id": message.turn_id}
    return {
        **{name: value for name, value in known.items() if value is not None},
        "role": "user",
        "content": [{"type": "text", "text": message.text}],
    }


def _status_answer(status: WindowStatus) -> Answer:
    return {
        "active_context_tokens": status.active_context_tokens,
        "scope_tokens": status.scope_tokens,
        "scope_limit_tokens": status.scope_limit_tokens,
        "hard_limit_tokens": status.hard_limit_tokens,
        "base_window_tokens_remaining": status.base_window_tokens_remaining,
        "hard_limit_reached": status.hard_limit_reached,
        "token_limit_reached": status.token_limit_reached,
        "prefill_input_tokens": status.prefill_input_tokens,
        "prefill_source": status.prefill_source,
        "percent_left": status.percent_left,
    }
