"""Wire models that several resources share: messages, profiles, agents, generation."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from app.api.blocks import ContentIn, SystemContentIn, blocks_of
from app.api.validation import WireModel
from app.core.agent import AGENT_SYSTEM_KEY, Agent, SystemPart, Tool
from app.core.blocks import text_block
from app.core.generation import RESERVED_FIELDS
from app.core.media import MediaRule
from app.core.messages import Kind, Role
from app.core.model_profile import ModelProfile
from app.services.incoming import IncomingMessage

LARGEST_COUNT = 2**64 - 1


_DATE_AND_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]")


def _must_be_text(value: object) -> object:
    if not isinstance(value, str) or not _DATE_AND_TIME.match(value):
        raise ValueError("a time must be an RFC 3339 text")
    return value


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the time is out of range") from error


Count = Annotated[int, Field(ge=0, le=LARGEST_COUNT)]
AnyCount = Annotated[int, Field(ge=-(2**63), le=LARGEST_COUNT)]
"""Policies say which of these make sense, and Codex's original arithmetic takes them all."""
Time = Annotated[
    AwareDatetime, Field(strict=False), BeforeValidator(_must_be_text), AfterValidator(_in_utc)
]
MODEL_NAME = r"^[^\x00-\x1f\x7f]{1,256}$"
ModelName = Annotated[str, Field(pattern=MODEL_NAME)]


class MessageIn(WireModel):
    """A message to append."""

    id: str | None = None
    turn_id: str | None = None
    role: Role
    kind: Kind = "normal"
    content: ContentIn
    agent_visible: bool = True
    user_visible: bool = True
    created_at: Time | None = None

    def message(self) -> IncomingMessage:
        """The message as the services take it."""
        return IncomingMessage(
            id=self.id,
            turn_id=self.turn_id,
            role=self.role,
            kind=self.kind,
            content=blocks_of(self.content),
            agent_visible=self.agent_visible,
            user_visible=self.user_visible,
            created_at=self.created_at,
        )


class ProfileFieldsIn(WireModel):
    """What a model can take, whatever its name. A null window is unknown."""

    context_window: Annotated[int, Field(le=LARGEST_COUNT)] | None
    max_context_window: AnyCount | None = None
    max_output_tokens: Annotated[int, Field(le=LARGEST_COUNT)] | None = None
    max_reasoning_tokens: Annotated[int, Field(le=LARGEST_COUNT)] | None = None
    accepts_data_blocks: bool = True
    effective_context_window_percent: AnyCount | None = Field(
        default=None, description="Absent or null is 95."
    )
    auto_compact_token_limit: AnyCount | None = None
    comp_hash: str | None = None
    encoding: Literal["cl100k_base", "o200k_base"] | None = None
    manages_own_context: bool = False
    media_rule: MediaRule | None = None

    def named(self, name: str) -> ModelProfile:
        """The core's profile, under a name.

        Raises:
            InvalidModelProfile: The reserves leave no room for input.
        """
        given = self.model_dump()
        if given["effective_context_window_percent"] is None:
            del given["effective_context_window_percent"]
        return ModelProfile(**{**given, "name": name})


class ModelProfileIn(ProfileFieldsIn):
    """What a model can take. A null window is unknown."""

    name: ModelName

    def profile(self) -> ModelProfile:
        """The core's profile.

        Raises:
            InvalidModelProfile: The reserves leave no room for input.
        """
        return self.named(self.name)


class SystemPartIn(WireModel):
    """One system message of every request."""

    key: str
    content: SystemContentIn

    def part(self) -> SystemPart:
        """The core's system part."""
        return SystemPart(key=self.key, content=blocks_of(self.content))


class ToolIn(WireModel):
    """A tool as its agent defines it."""

    name: Annotated[str, Field(min_length=1)]
    description: str
    parameters: dict[str, Any]
    control: bool = False
    root_only: bool = False
    system_rule: str | None = None
    sandbox_parameters: list[str] = Field(default_factory=list)

    def tool(self) -> Tool:
        """The core's tool."""
        return Tool(
            name=self.name,
            description=self.description,
            parameters=self.parameters,
            control=self.control,
            root_only=self.root_only,
            system_rule=self.system_rule,
            sandbox_parameters=tuple(self.sandbox_parameters),
        )


class AgentIn(WireModel):
    """An agent: a prompt or system parts, and tools."""

    system_prompt: str | None = None
    system_parts: list[SystemPartIn] | None = None
    tools: list[ToolIn] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_one_system(self) -> Self:
        if (self.system_prompt is None) == (self.system_parts is None):
            raise ValueError("an agent has either system_prompt or system_parts")
        return self

    def agent(self) -> Agent:
        """The core's agent; the prompt becomes its own system part."""
        if self.system_parts is not None:
            parts = tuple(part.part() for part in self.system_parts)
        else:
            prompt = (text_block(self.system_prompt or ""),)
            parts = (SystemPart(key=AGENT_SYSTEM_KEY, content=prompt),)
        return Agent(system_parts=parts, tools=tuple(tool.tool() for tool in self.tools))


class ThinkingIn(WireModel):
    """Whether the model should reason."""

    mode: Literal["enabled", "disabled"]


class GenerationIn(BaseModel):
    """Settings of generation; others than these stand in requests as they are given."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    temperature: int | float | None = None
    top_p: int | float | None = None
    thinking: ThinkingIn | None = None

    @model_validator(mode="after")
    def _leaves_the_request_alone(self) -> Self:
        for name in self.model_extra or {}:
            if name in RESERVED_FIELDS:
                raise ValueError(f"{name} is not a setting of generation")
        return self

    def settings(self) -> dict[str, object]:
        """The settings that were given; null removes one."""
        return self.model_dump(exclude_unset=True)
