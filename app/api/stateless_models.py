"""Stateless requests on the wire: everything that an answer depends on is given."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, Field, model_validator

from app.api.answers import Answer
from app.api.blocks import ContentIn, blocks_of
from app.api.message_models import RepairOut
from app.api.prepare_models import Include, LimitsOut, PreparedFormat
from app.api.usage_models import SampleDecisionOut, WindowStatusOut
from app.api.validation import WireModel
from app.api.wire import Count, GenerationIn, ModelProfileIn, SystemPartIn, ToolIn
from app.api.world_state_models import CaptureIn, Ordinal, SectionWarningOut
from app.core.agent import Agent
from app.core.blocks import Text
from app.core.follow_up import FollowUp
from app.core.messages import Kind, Real, Role, Source, Synthetic, SyntheticReason
from app.core.model_profile import ModelProfile, unknown_profile
from app.core.request_copy import PruneBoundary
from app.policies.presets import DEFAULT_PRESET, policy_from
from app.services.estimates import Subject
from app.services.given_limits import GivenUsage
from app.services.stateless import GivenItem, GivenState
from app.world_state.baseline import Absent, Baseline, Known, SectionBaseline, Unknown
from app.world_state.sample_point import SamplePoint


class RealSourceIn(WireModel):
    """A message that somebody sent; without an id it is live."""

    type: Literal["real"]
    id: str | None = None
    sequence: Count | None = None


class SyntheticSourceIn(WireModel):
    """A message that was made for the request."""

    type: Literal["synthetic"]
    reason: SyntheticReason
    id: str | None = None


SourceIn: TypeAlias = Annotated[RealSourceIn | SyntheticSourceIn, Field(discriminator="type")]


class ItemIn(WireModel):
    """One item of a conversation. An absent source is real and live."""

    role: Role
    kind: Kind = "normal"
    content: ContentIn
    source: SourceIn | None = None
    agent_visible: bool = True

    def item(self, index: int) -> GivenItem:
        """The item as the services take it."""
        return GivenItem(
            role=self.role,
            kind=self.kind,
            content=blocks_of(self.content),
            source=self._source(index),
            agent_visible=self.agent_visible,
        )

    def _source(self, index: int) -> Source:
        match self.source:
            case SyntheticSourceIn(reason=reason, id=item_id):
                return Synthetic(reason=reason, id=item_id or f"synthetic-{index}")
            case RealSourceIn(id=message_id, sequence=sequence):
                return Real(id=message_id, sequence=sequence)
            case None:
                return Real()


class PruneIn(WireModel):
    """Up to where old tool results are shortened."""

    through_sequence: Count | None = None
    spill_directory: str | None = None


class GivenPrepareIn(WireModel):
    """A conversation and everything else that its next call depends on."""

    model_profile: ModelProfileIn
    policy: str | dict[str, Any] = DEFAULT_PRESET
    system_parts: list[SystemPartIn] = Field(default_factory=list)
    tools: list[ToolIn] = Field(default_factory=list)
    conversation: list[ItemIn] = Field(default_factory=list)
    prune: PruneIn = Field(default_factory=PruneIn)
    generation: GenerationIn = Field(default_factory=GenerationIn)
    format: PreparedFormat = "neutral"
    include: list[Include] = Field(default_factory=list)

    def state(self) -> GivenState:
        """The state as the services take it.

        Raises:
            ContextError: The profile or the policy is refused.
        """
        return GivenState(
            model_profile=self.model_profile.profile(),
            policy=policy_from(self.policy),
            agent=Agent(
                system_parts=tuple(part.part() for part in self.system_parts),
                tools=tuple(tool.tool() for tool in self.tools),
            ),
            conversation=[item.item(index) for index, item in enumerate(self.conversation)],
            boundary=PruneBoundary(
                through_sequence=self.prune.through_sequence,
                spill_directory=self.prune.spill_directory,
            ),
            generation={
                key: value for key, value in self.generation.settings().items() if value is not None
            },
        )


class GivenUsageIn(WireModel):
    """What a worker knows of its window."""

    active_context_tokens: Annotated[int, Field(ge=0, lt=2**63)]
    prefill_input_tokens: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    needs_follow_up: bool | None = None
    has_pending_input: bool | None = None
    new_context_requested: bool = False

    def usage(self, previous: ModelProfileIn | None) -> GivenUsage:
        """The usage as the services take it."""
        follow_up = None
        if self.needs_follow_up is not None or self.has_pending_input is not None:
            follow_up = FollowUp(
                model_needs_follow_up=bool(self.needs_follow_up),
                has_pending_input=bool(self.has_pending_input),
            )
        return GivenUsage(
            active_context_tokens=self.active_context_tokens,
            prefill_input_tokens=self.prefill_input_tokens,
            new_context_requested=self.new_context_requested,
            follow_up=follow_up,
            previous=None if previous is None else previous.profile(),
        )


class LimitsIn(WireModel):
    """A model and a policy, and what is known of a window under them."""

    model_profile: ModelProfileIn
    policy: str | dict[str, Any] = DEFAULT_PRESET
    usage: GivenUsageIn | None = None
    previous_model_profile: ModelProfileIn | None = None


class GivenLimitsOut(BaseModel):
    """The limits of a model under a policy; with usage, the window's status and a decision."""

    limits: LimitsOut
    status: WindowStatusOut | None = None
    decision: SampleDecisionOut | None = None
    repairs: list[RepairOut]


class EstimateIn(WireModel):
    """One thing to measure: a text, a content array, messages or tools."""

    text: str | None = None
    content: ContentIn | None = None
    messages: list[ItemIn] | None = None
    tools: list[ToolIn] | None = None
    model_profile: ModelProfileIn | None = None
    policy: str | dict[str, Any] = DEFAULT_PRESET

    @model_validator(mode="after")
    def _has_one_subject(self) -> Self:
        subjects = (self.text, self.content, self.messages, self.tools)
        if sum(subject is not None for subject in subjects) != 1:
            raise ValueError("an estimate has one of text, content, messages and tools")
        return self

    def subject(self) -> Subject:
        """What to measure, as the services take it."""
        contents = None
        if self.content is not None:
            contents = [blocks_of(self.content)]
        elif self.messages is not None:
            contents = [blocks_of(message.content) for message in self.messages]
        tools = None if self.tools is None else [tool.tool() for tool in self.tools]
        return Subject(text=self.text, contents=contents, tools=tools)

    def profile(self) -> ModelProfile:
        """The profile whose counters measure.

        Raises:
            InvalidModelProfile: It is given and impossible.
        """
        given = self.model_profile
        return unknown_profile("unknown") if given is None else given.profile()


class EstimateOut(BaseModel):
    """The size of one thing by every counter. Calibrated is null: no usage was reported of it."""

    bytes: int
    json_bytes: int
    tokenizer: int
    calibrated: int | None
    policy: int


class BlockEstimateOut(EstimateOut):
    """The size of one block by every counter."""

    type: str


class ItemEstimateOut(EstimateOut):
    """The size of one thing; a text and a tool have no blocks."""

    blocks: list[BlockEstimateOut]


class EstimatesOut(BaseModel):
    """The sizes of all things asked for, each alone and together."""

    items: list[ItemEstimateOut]
    total: EstimateOut
    basis: dict[str, str]
    repairs: list[RepairOut]


class BaselineIn(WireModel):
    """What the model was last told about a section."""

    state: Literal["unknown", "absent", "known"]
    text: str | None = None

    @model_validator(mode="after")
    def _has_text_when_known(self) -> Self:
        if (self.state == "known") != (self.text is not None):
            raise ValueError("a section has a text exactly where its state is known")
        return self

    def section(self) -> SectionBaseline:
        """The baseline as world state takes it."""
        if self.text is not None:
            return Known(text=self.text)
        return Absent() if self.state == "absent" else Unknown()


class DiffIn(WireModel):
    """A capture, what the model was told, and what of it is still in its conversation."""

    capture: CaptureIn
    baseline: dict[str, BaselineIn] = Field(default_factory=dict)
    retained: list[str] | None = None
    conversation: list[ItemIn] | None = None
    turn_id: str
    model_call: Ordinal
    sample: Ordinal

    @model_validator(mode="after")
    def _tells_what_is_kept_once(self) -> Self:
        if self.retained is not None and self.conversation is not None:
            raise ValueError("give either retained or conversation")
        return self

    def point(self) -> SamplePoint:
        """The point of the sample."""
        return SamplePoint(turn_id=self.turn_id, model_call=self.model_call, sample=self.sample)

    def known(self) -> Baseline:
        """The baseline as world state takes it."""
        return {name: section.section() for name, section in self.baseline.items()}

    def world_state_texts(self) -> list[str]:
        """The texts of the world-state messages of the conversation."""
        return [
            block.text
            for item in self.conversation or []
            if item.kind == "world_state"
            for block in blocks_of(item.content)
            if isinstance(block, Text)
        ]


class EmissionOut(BaseModel):
    """One message that tells the model about one section."""

    section: str
    message_id: str
    notice: Literal["replacement", "removal"] | None
    text: str


class DiffOut(BaseModel):
    """What to tell the model, and what it then knows."""

    emissions: list[EmissionOut]
    baseline: dict[str, dict[str, Any]]
    warnings: list[SectionWarningOut]
    repairs: list[RepairOut]


def baseline_answer(baseline: Baseline) -> Answer:
    """A baseline as answers have it."""
    return {section: _section(state) for section, state in baseline.items()}


def _section(state: SectionBaseline) -> Answer:
    match state:
        case Unknown():
            return {"state": "unknown"}
        case Absent():
            return {"state": "absent"}
        case Known(text=text):
            return {"state": "known", "text": text}
