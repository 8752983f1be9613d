"""Prepared calls on the wire."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from app.api.encoding_models import TargetOut
from app.api.message_models import MessageOut, PlacedOut, RepairOut
from app.api.session_models import ToolOut
from app.api.validation import WireModel
from app.api.wire import Count, GenerationIn, MessageIn
from app.api.world_state_models import CaptureIn, Ordinal, SampleOut, sample_key
from app.core.budget import BudgetState
from app.core.ids import check_key
from app.core.limits import Action, LimitScope, Phase, Reason
from app.core.prefix import Cause
from app.core.verdicts import VerdictName
from app.encoders.encoding import Format
from app.services.append import Expected
from app.services.decisions import Delivery, OverflowReport
from app.services.prepare import PrepareRequest
from app.services.turns import TurnPoint
from app.services.world_state import SampleRequest
from app.world_state.on_error import OnError

PreparedFormat: TypeAlias = Literal["neutral", Format]
"""Whose words a request is said in."""

Include: TypeAlias = Literal["provenance", "items"]
SessionInclude: TypeAlias = Literal[Include, "verdicts"]


class GivenCaptureIn(WireModel):
    """A capture with what to do where a section fails."""

    capture: CaptureIn
    on_error: dict[str, OnError] = Field(default_factory=dict)


class RecoverIn(WireModel):
    """A provider refused a prepared call because it was too long."""

    prepared_id: str
    error: Literal["context_overflow"]
    delivery: Delivery
    observed_limit_tokens: Annotated[int, Field(gt=0, lt=2**63)] | None = Field(
        default=None, description="What the provider said its limit is."
    )


def _sort_of_capture(value: object) -> str:
    return "given" if isinstance(value, dict) and "capture" in value else "bare"


GivenWorldState: TypeAlias = Annotated[
    Annotated[CaptureIn, Tag("bare")] | Annotated[GivenCaptureIn, Tag("given")],
    Discriminator(_sort_of_capture),
]


class PrepareIn(WireModel):
    """What to do before the next call is prepared; every field is optional."""

    turn_id: str | None = None
    model_call: Ordinal | None = None
    sample: Ordinal | None = None
    append: list[MessageIn] = Field(default_factory=list)
    expected_message_count: Count | None = None
    world_state: GivenWorldState | None = None
    format: PreparedFormat = "neutral"
    generation: GenerationIn = Field(default_factory=GenerationIn)
    recover_from: RecoverIn | None = None
    start_compaction: bool = False
    include: list[SessionInclude] = Field(default_factory=list)

    def request(self, key: str | None) -> PrepareRequest:
        """The prepare as the services take it.

        Raises:
            TurnRequired: A capture is given without its point.
        """
        if self.turn_id is not None:
            check_key(self.turn_id, "turn_id")
        return PrepareRequest(
            append=[message.message() for message in self.append],
            expected=Expected(message_count=self.expected_message_count),
            world_state=self._sample(),
            format=self.format,
            generation=self.generation.settings(),
            point=self._point(),
            report=self._report(),
            starts_compaction=self.start_compaction,
            key=key,
        )

    def _point(self) -> TurnPoint | None:
        if self.turn_id is None:
            return None
        return TurnPoint(turn_id=self.turn_id, model_call=self.model_call, sample=self.sample)

    def _report(self) -> OverflowReport | None:
        if self.recover_from is None:
            return None
        given = self.recover_from
        return OverflowReport(
            prepared_id=given.prepared_id,
            delivery=given.delivery,
            observed_limit_tokens=given.observed_limit_tokens,
        )

    def _sample(self) -> SampleRequest | None:
        match self.world_state:
            case None:
                return None
            case GivenCaptureIn(capture=capture, on_error=on_error):
                return self._sample_of(capture, on_error)
            case CaptureIn() as capture:
                return self._sample_of(capture, {})

    def _sample_of(self, capture: CaptureIn, on_error: dict[str, OnError]) -> SampleRequest:
        key = sample_key(self.turn_id, self.model_call, self.sample)
        return SampleRequest(key=key, capture=capture.capture(), on_error=on_error)


class RequestMessageOut(BaseModel):
    """One message of a request."""

    role: Literal["system", "user", "assistant", "tool"]
    content: list[dict[str, Any]]


class RequestOut(BaseModel):
    """The neutral request, to be sent as it is; other settings of generation stand at its end."""

    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[RequestMessageOut]
    temperature: float | None
    top_p: float | None
    max_output_tokens: int | None
    thinking: dict[str, Any] | None
    tools: list[ToolOut]


class CountsOut(BaseModel):
    """The same request by every counter."""

    policy: int
    json_bytes: int
    tokenizer: int
    calibrated: int | None
    regions: dict[str, dict[str, int] | None]
    basis: dict[str, str]


class BudgetOut(BaseModel):
    """What the request takes. Unknown is null."""

    system_context_tokens: int
    conversation_tokens: int
    tool_surface_tokens: int
    estimated_input_tokens: int
    reserved_output_tokens: int
    used_percent: float | None
    used_percent_raw: float | None
    remaining_tokens: int | None
    state: BudgetState
    fits: bool | None
    suggested_max_output_tokens: int | None
    counts: CountsOut


class LimitOriginOut(BaseModel):
    """Where a limit comes from."""

    requested: int | None
    effective: int | None
    source: str
    why: str


class LimitsOut(BaseModel):
    """The limits in force, in tokens. Unknown is null."""

    context_window: int | None
    effective_input_tokens: int | None
    hard_limit_tokens: int | None
    auto_compact_token_limit: int | None
    compact_at_input_tokens: int | None
    scope: LimitScope
    accepts_data_blocks: bool
    max_context_item_tokens: int
    max_tool_result_tokens: int
    max_skill_instruction_tokens: int
    max_agent_message_tokens: int
    provenance: dict[str, LimitOriginOut]


class DecisionOut(BaseModel):
    """What to do with the request."""

    action: Action
    reason: Reason
    phase: Phase
    measured_tokens: int
    line_tokens: int | None
    compact_with_model: str | None
    detail: str
    compaction: dict[str, Any] | None
    background: list[dict[str, Any]] = Field(description="Compactions that may run meanwhile.")
    reminder: str | None
    retry_after_ms: int | None = None


class ProjectionOut(BaseModel):
    """What projection cut."""

    truncated_tool_results: int
    original_tokens: int
    projected_tokens: int


class PrunedOut(BaseModel):
    """What pruning shortened, and up to where."""

    through_sequence: int | None
    tool_results: int
    arguments: int
    thinking: int
    references: int


class SegmentOut(BaseModel):
    """A part of the request that a provider caches as a whole."""

    name: Literal["system", "tools", "messages"]
    bytes: int
    sha256: str


class PrefixOut(BaseModel):
    """What the request repeats of the previous one."""

    chain: str
    common_messages: int
    common_bytes: int
    broken_at: int | None
    cause: Cause | None
    segments: list[SegmentOut]


class EmittedOut(BaseModel):
    """What a sample of world state appended."""

    emitted: list[MessageOut]


class GivenPreparedOut(BaseModel):
    """A prepared call of a conversation that was given whole."""

    request: RequestOut | dict[str, Any] = Field(
        description="The neutral request, or the body of the format that was asked for."
    )
    call_ids: dict[str, str] | None = None
    target: TargetOut | None = None
    budget: BudgetOut
    limits: LimitsOut
    decision: DecisionOut
    projection: ProjectionOut
    pruned: PrunedOut
    repairs: list[RepairOut]
    provenance: list[dict[str, Any]] | None = None
    items: dict[str, Any] | None = None


class VerdictOut(BaseModel):
    """What became of a stored message, and the rule that did it."""

    message_id: str
    sequence: int
    verdict: VerdictName
    rule: str | None


class PreparedOut(GivenPreparedOut):
    """A prepared call of a session."""

    prepared_id: str
    session_id: str
    version: int
    message_count: int
    appended: list[PlacedOut]
    world_state: EmittedOut | SampleOut
    prefix: PrefixOut
    verdicts: list[VerdictOut] | None = None
