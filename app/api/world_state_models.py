"""World state on the wire."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeAlias, TypeVar

from pydantic import BaseModel, Discriminator, Field, Tag, model_validator

from app.api.answers import Answer
from app.api.message_models import MessageOut, RepairOut, message_bytes
from app.api.responses import spliced
from app.api.validation import WireModel
from app.api.wire import Count
from app.core import canonical
from app.core.errors import TurnRequired
from app.services.world_state import Sampled, SampleRequest
from app.store.world_state import SampleKey, StoredSection
from app.world_state.capture import (
    NOT_SAMPLED,
    Capture,
    CaptureFailure,
    CustomSection,
    EncodedInstructions,
    Entry,
    EntryType,
    Instructions,
    NotSampled,
    Project,
    Sandbox,
    SandboxMode,
    Skill,
)
from app.world_state.on_error import OnError

Ordinal: TypeAlias = Annotated[int, Field(ge=1, lt=2**63)]


class FailureIn(WireModel):
    """Why the worker could not capture a section."""

    code: str
    detail: str

    def failure(self) -> CaptureFailure:
        """The failure as world state takes it."""
        return CaptureFailure(code=self.code, detail=self.detail)


class FailedSectionIn(WireModel):
    """A section that the worker could not capture."""

    error: FailureIn


class EntryIn(WireModel):
    """One name in the top level of the project."""

    name: str
    type: EntryType


class ProjectIn(WireModel):
    """Where the agent works."""

    working_directory: str
    repository_root: str | None = None
    entries: list[EntryIn] = Field(default_factory=list)

    def section(self) -> Project:
        """The section as world state takes it."""
        return Project(
            working_directory=self.working_directory,
            repository_root=self.repository_root,
            entries=tuple(Entry(name=entry.name, type=entry.type) for entry in self.entries),
        )


class InstructionsIn(WireModel):
    """The project's instruction file, as text or as base64."""

    content: str | None = None
    content_base64: str | None = None

    @model_validator(mode="after")
    def _has_one_content(self) -> Self:
        if (self.content is None) == (self.content_base64 is None):
            raise ValueError("instructions have either content or content_base64")
        return self

    def section(self) -> Instructions | EncodedInstructions:
        """The section as world state takes it."""
        if self.content_base64 is not None:
            return EncodedInstructions(content_base64=self.content_base64)
        return Instructions(content=self.content or "")


class SkillIn(WireModel):
    """A skill that the worker found."""

    name: str
    description: str
    path: str
    enabled: bool = True

    def skill(self) -> Skill:
        """The skill as world state takes it."""
        return Skill(
            name=self.name, description=self.description, path=self.path, enabled=self.enabled
        )


class SandboxIn(WireModel):
    """How the worker's shell is confined."""

    available: bool
    mode: SandboxMode
    workspace: str
    home: str

    def section(self) -> Sandbox:
        """The section as world state takes it."""
        return Sandbox(
            available=self.available, mode=self.mode, workspace=self.workspace, home=self.home
        )


class CustomSectionIn(WireModel):
    """A section of the worker's own; a null body is an absent section."""

    id: str
    tag: str
    body: str | None = None
    error: FailureIn | None = None
    replacement_notice: Annotated[str, Field(min_length=1)] | None = None
    removal_notice: Annotated[str, Field(min_length=1)] | None = None
    max_tokens: Count | None = None

    @model_validator(mode="after")
    def _has_body_or_error(self) -> Self:
        if ("body" in self.model_fields_set) == (self.error is not None):
            raise ValueError("a custom section has either a body or an error")
        return self

    def section(self) -> CustomSection:
        """The section as world state takes it."""
        return CustomSection(
            id=self.id,
            tag=self.tag,
            body=self.body if self.error is None else self.error.failure(),
            replacement_notice=self.replacement_notice,
            removal_notice=self.removal_notice,
            max_tokens=self.max_tokens,
        )


def _sort_of_section(value: object) -> str:
    return "failed" if isinstance(value, dict) and "error" in value else "captured"


_S = TypeVar("_S")
MaybeFailed: TypeAlias = Annotated[
    Annotated[_S, Tag("captured")] | Annotated[FailedSectionIn, Tag("failed")],
    Discriminator(_sort_of_section),
]


class CaptureIn(WireModel):
    """What a worker saw. A section left out is not sampled, a null one is absent."""

    project: MaybeFailed[ProjectIn] | None = None
    instructions: MaybeFailed[InstructionsIn] | None = None
    skills: MaybeFailed[list[SkillIn]] | None = None
    sandbox: MaybeFailed[SandboxIn] | None = None
    custom: list[CustomSectionIn] = Field(default_factory=list)

    def capture(self) -> Capture:
        """The capture as world state takes it."""
        return Capture(
            project=self.project.section()
            if isinstance(self.project, ProjectIn)
            else self._other("project", self.project),
            instructions=self.instructions.section()
            if isinstance(self.instructions, InstructionsIn)
            else self._other("instructions", self.instructions),
            skills=tuple(skill.skill() for skill in self.skills)
            if isinstance(self.skills, list)
            else self._other("skills", self.skills),
            sandbox=self.sandbox.section()
            if isinstance(self.sandbox, SandboxIn)
            else self._other("sandbox", self.sandbox),
            custom=tuple(section.section() for section in self.custom),
        )

    def _other(
        self, name: str, value: FailedSectionIn | None
    ) -> CaptureFailure | NotSampled | None:
        """The state of a section that holds no value."""
        if value is not None:
            return value.error.failure()
        return None if name in self.model_fields_set else NOT_SAMPLED


class SampleIn(WireModel):
    """A capture and the point of the turn at which it was taken."""

    turn_id: str | None = None
    model_call: Ordinal | None = None
    sample: Ordinal | None = None
    capture: CaptureIn
    on_error: dict[str, OnError] = Field(default_factory=dict)

    def request(self) -> SampleRequest:
        """The sample as the services take it.

        Raises:
            TurnRequired: The point is not given in full.
        """
        return SampleRequest(
            key=sample_key(self.turn_id, self.model_call, self.sample),
            capture=self.capture.capture(),
            on_error=self.on_error,
        )


def sample_key(turn_id: str | None, model_call: int | None, sample: int | None) -> SampleKey:
    """The point of a sample.

    Raises:
        TurnRequired: It is not given in full.
    """
    if turn_id is None or model_call is None or sample is None:
        raise TurnRequired("a world-state sample needs turn_id, model_call and sample")
    return SampleKey(turn_id=turn_id, model_call=model_call, sample=sample)


class SampledSectionOut(BaseModel):
    """A section that was sampled."""

    id: str
    state: Literal["absent", "known"]
    changed: bool
    text_bytes: int


class SectionWarningOut(BaseModel):
    """Something that people should know and the model is not told."""

    code: str
    section: str
    detail: str
    path: str | None = None


class SampleOut(BaseModel):
    """What a sample did."""

    emitted: list[MessageOut]
    sections: list[SampledSectionOut]
    warnings: list[SectionWarningOut]
    replayed: bool


class SampleAnswerOut(SampleOut):
    """What a sample did, and what was mended in its body."""

    repairs: list[RepairOut]


class SectionStateOut(BaseModel):
    """A section's text, where it has one."""

    state: Literal["unknown", "absent", "known"]
    text: str | None


class KnownSectionOut(BaseModel):
    """What a session knows of a section."""

    id: str
    baseline: SectionStateOut
    message_id: str | None
    last_capture: SectionStateOut


class WorldStateOut(BaseModel):
    """The world state of a session."""

    sections: list[KnownSectionOut]


def world_state_answer(sections: Sequence[StoredSection]) -> Answer:
    """The world state of a session as answers have it."""
    return {
        "sections": [
            {
                "id": section.section_id,
                "baseline": {"state": section.baseline_state, "text": section.baseline_text},
                "message_id": section.message_id,
                "last_capture": {"state": section.last_state, "text": section.last_text},
            }
            for section in sections
        ]
    }


def sample_bytes(session_id: str, sampled: Sampled) -> bytes:
    """What a sample did, with the messages it emitted, as JSON bytes."""
    answer = {key: value for key, value in sampled.answer.items() if key != "message_ids"}
    before = canonical.encode({**answer, "replayed": sampled.replayed})
    emitted = b",".join(
        message_bytes(session_id, stored, sampled.coverage) for stored in sampled.emitted
    )
    return spliced(before, "emitted", [b"[", emitted, b"]"])
