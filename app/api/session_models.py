"""Sessions on the wire."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.api.answers import Answer
from app.api.message_models import RepairOut
from app.api.pages import DEFAULT_LIMIT, LARGEST_LIMIT, OrderIn
from app.api.provider_context_models import (
    ProviderContextIn,
    ProviderContextOut,
    provider_context_answer,
)
from app.api.session_usage import SessionUsageOut, session_usage_answer
from app.api.validation import WireModel
from app.api.wire import AgentIn, Count, GenerationIn, ModelName, ModelProfileIn
from app.core.budget import BudgetState
from app.core.model_profile import ModelProfile, profile_json
from app.core.stored import LearnedLimit, Origin, Session
from app.core.turns import TurnStatus
from app.policies.presets import DEFAULT_PRESET, policy_from, policy_json
from app.services.compaction_answers import window_json
from app.services.resume import Resume
from app.services.sessions import GivenProfile, NewSession, SessionChange
from app.services.warnings import warnings_of
from app.store.session_pages import SessionFilter, Sort

_NEVER_NULL = ("model", "policy", "agent", "generation", "sandbox_available")
IMMUTABLE_FIELDS = ("id", "parent_session_id", "created_at", "incarnation", "forked_from")


class SessionIn(WireModel):
    """A session to create."""

    id: str | None = None
    model: ModelName
    model_profile: ModelProfileIn | None = None
    policy: str | dict[str, Any] = DEFAULT_PRESET
    agent: AgentIn
    generation: GenerationIn = Field(default_factory=GenerationIn)
    parent_session_id: str | None = None
    sandbox_available: bool = True
    spill_directory: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    def new_session(self) -> NewSession:
        """The session as the services take it.

        Raises:
            ContextError: The profile or the policy is refused.
        """
        return NewSession(
            model=self.model,
            model_profile=self._profile(),
            policy=policy_from(self.policy),
            agent=self.agent.agent(),
            generation=self.generation.settings(),
            parent_session_id=self.parent_session_id,
            sandbox_available=self.sandbox_available,
            spill_directory=self.spill_directory,
            metadata=self.metadata,
        )

    def _profile(self) -> GivenProfile:
        if self.model_profile is not None:
            return self.model_profile.profile()
        return "unknown" if "model_profile" in self.model_fields_set else None


class SessionPatch(WireModel):
    """New values of a session. Metadata is merged, every other field replaced whole."""

    model: ModelName | None = None
    model_profile: ModelProfileIn | None = None
    policy: str | dict[str, Any] | None = None
    agent: AgentIn | None = None
    generation: GenerationIn | None = None
    sandbox_available: bool | None = None
    spill_directory: str | None = None
    provider_context: ProviderContextIn | None = None
    metadata: dict[str, Any] | None = None
    expected_version: Count | None = None

    @model_validator(mode="after")
    def _leaves_no_field_empty(self) -> Self:
        for name in _NEVER_NULL:
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        return self

    def change(self) -> SessionChange:
        """The change as the services take it.

        Raises:
            ContextError: The profile or the policy is refused.
        """
        values: dict[str, object] = {}
        if self.model is not None:
            values["model"] = self.model
        if "model_profile" in self.model_fields_set:
            values["model_profile"] = self._profile()
        if self.policy is not None:
            values["policy"] = policy_json(policy_from(self.policy))
        if self.generation is not None:
            values["generation"] = self.generation.settings()
        if self.sandbox_available is not None:
            values["sandbox_available"] = self.sandbox_available
        if "spill_directory" in self.model_fields_set:
            values["spill_directory"] = self.spill_directory
        if "provider_context" in self.model_fields_set:
            given = self.provider_context
            values["provider_context"] = None if given is None else given.context()
        if "metadata" in self.model_fields_set and self.metadata is None:
            values["metadata"] = {}
        return SessionChange(
            values=values,
            agent=None if self.agent is None else self.agent.agent(),
            metadata=self.metadata,
        )

    def _profile(self) -> ModelProfile | None:
        return None if self.model_profile is None else self.model_profile.profile()


PlainText = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]{1,256}$")]


class SessionQuery(BaseModel):
    """Which sessions to list, and how."""

    model_config = ConfigDict(extra="forbid")

    model: PlainText | None = None
    policy: PlainText | None = None
    state: BudgetState | None = None
    min_used_percent: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    parent_session_id: PlainText | None = None
    q: PlainText | None = Field(default=None, description="A part of the session's id.")
    sort: Sort = "created_at"
    order: OrderIn = "desc"
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT)

    def filter(self) -> SessionFilter:
        """The filter as the store takes it."""
        return SessionFilter(
            model=self.model,
            policy=self.policy,
            state=self.state,
            min_used_percent=self.min_used_percent,
            parent_session_id=self.parent_session_id,
            q=self.q,
        )


class WarningOut(BaseModel):
    """Something in a session's settings that should worry its owner."""

    code: str
    detail: str


class OriginOut(BaseModel):
    """The session that another one was forked from, and up to where."""

    session_id: str
    through_sequence: int


class WindowOut(BaseModel):
    """The identity of what a model sees between two compactions."""

    number: int
    id: str
    window_id: str
    first_window_id: str
    previous_window_id: str | None


class UnresolvedCallOut(BaseModel):
    """A tool call without a final result."""

    id: str
    name: str
    message_id: str


class ResumeOut(BaseModel):
    """Where a worker that comes back goes on."""

    turn_id: str | None
    turn_status: TurnStatus | None
    model_call: int | None
    sample: int | None
    last_prepared_id: str | None
    unresolved_tool_calls: list[UnresolvedCallOut]
    open_compaction_id: str | None
    lease_expires_at: str | None


class SessionOut(BaseModel):
    """A session."""

    id: str
    incarnation: str
    model: str
    model_profile: dict[str, Any] | None
    policy: dict[str, Any]
    agent_ref: str
    generation: dict[str, Any]
    created_at: str
    updated_at: str
    version: int
    message_count: int
    parent_session_id: str | None
    forked_from: OriginOut | None
    current_turn_id: str | None
    window: WindowOut
    pruned_through_sequence: int | None
    latest_compaction_id: str | None
    sandbox_available: bool
    spill_directory: str | None
    state: BudgetState
    used_percent: float | None
    usage: SessionUsageOut
    provider_context: ProviderContextOut | None
    warnings: list[WarningOut]
    metadata: dict[str, Any]
    resume: ResumeOut | None = None


class ForkIn(WireModel):
    """A session to make of another one's history."""

    id: str | None = None
    through_sequence: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class ChangedSessionOut(SessionOut):
    """A session as a request left it, and what was mended in that request."""

    repairs: list[RepairOut]


class SessionPageOut(BaseModel):
    """A page of sessions."""

    items: list[SessionOut]
    next_cursor: str | None


class ToolOut(BaseModel):
    """A tool as requests carry it."""

    name: str
    description: str
    parameters: dict[str, Any]


def session_answer(session: Session, learned: LearnedLimit | None) -> Answer:
    """A session as answers have it, with the smallest limit that was reported of its model."""
    profile = session.model_profile
    return {
        "id": session.id,
        "incarnation": session.incarnation,
        "model": session.model,
        "model_profile": None if profile is None else profile_json(profile),
        "policy": session.policy,
        "agent_ref": session.agent_ref,
        "generation": session.generation,
        "created_at": session.created_at.isoformat(),
        "updated_at": session.updated_at.isoformat(),
        "version": session.version,
        "message_count": session.message_count,
        "parent_session_id": session.parent_session_id,
        "forked_from": _origin(session.forked_from),
        "current_turn_id": session.current_turn_id,
        "window": window_json(session),
        "pruned_through_sequence": session.pruned_through_sequence,
        "latest_compaction_id": session.view_id,
        "sandbox_available": session.sandbox_available,
        "spill_directory": session.spill_directory,
        "state": session.state,
        "used_percent": session.used_percent,
        "usage": session_usage_answer(session.usage),
        "provider_context": provider_context_answer(session.provider_context),
        "warnings": warnings_of(session, learned),
        "metadata": session.metadata,
    }


def resume_answer(resume: Resume) -> Answer:
    """Where a worker that comes back goes on, as answers have it."""
    turn = resume.turn
    expires = None if turn is None else turn.lease_expires_at
    return {
        "turn_id": None if turn is None else turn.id,
        "turn_status": None if turn is None else turn.status,
        "model_call": None if turn is None else turn.model_call,
        "sample": None if turn is None else turn.sample,
        "last_prepared_id": resume.last_prepared_id,
        "unresolved_tool_calls": [
            {"id": call.id, "name": call.name, "message_id": message_id}
            for call, message_id in resume.unresolved
        ],
        "open_compaction_id": resume.open_compaction_id,
        "lease_expires_at": None if expires is None else expires.isoformat(),
    }


def _origin(origin: Origin | None) -> Answer | None:
    if origin is None:
        return None
    return {"session_id": origin.session_id, "through_sequence": origin.through_sequence}
