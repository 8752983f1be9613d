"""Content on the wire: the core's blocks, with the shorter forms that callers may use."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from app.api.validation import WireModel
from app.core import canonical
from app.core.blocks import (
    Artifact,
    Audience,
    Block,
    Blocks,
    CallState,
    Data,
    DataSource,
    ProviderOpaque,
    ProviderState,
    ResultState,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_block,
)

DataSourceIn: TypeAlias = Annotated[DataSource, Field(discriminator="source_type")]


class DataIn(WireModel):
    """An image, a document or another medium."""

    type: Literal["data"]
    source: DataSourceIn
    name: str | None = None
    audience: Audience = None

    def block(self) -> Block:
        """The core's block."""
        return Data(type="data", source=self.source, name=self.name, audience=self.audience)


class ToolCallIn(WireModel):
    """A call that the assistant asks for; an object as `input` is kept as compact JSON."""

    type: Literal["tool_call"]
    id: str
    name: str
    input: str | dict[str, Any]
    state: CallState = "finished"
    provider_state: ProviderState | None = None

    def block(self) -> Block:
        """The core's block."""
        text = self.input if isinstance(self.input, str) else canonical.encode(self.input).decode()
        return ToolCall(
            type="tool_call",
            id=self.id,
            name=self.name,
            input=text,
            state=self.state,
            provider_state=self.provider_state,
        )


class ToolResultIn(WireModel):
    """The answer to the call of the same id; an absent name is taken from the call."""

    type: Literal["tool_result"]
    id: str
    name: str | None = None
    output: "str | list[BlockIn]"
    state: ResultState = "success"
    artifacts: list[Artifact] = Field(default_factory=list)

    def block(self) -> Block:
        """The core's block."""
        return ToolResult(
            type="tool_result",
            id=self.id,
            name=self.name,
            output=blocks_of(self.output),
            state=self.state,
            artifacts=tuple(self.artifacts),
        )


BlockIn: TypeAlias = Annotated[
    Text | Thinking | DataIn | ToolCallIn | ToolResultIn | ProviderOpaque,
    Field(discriminator="type"),
]
SystemBlockIn: TypeAlias = Annotated[Text | DataIn | ProviderOpaque, Field(discriminator="type")]

ContentIn: TypeAlias = str | list[BlockIn]
SystemContentIn: TypeAlias = str | list[SystemBlockIn]

ToolResultIn.model_rebuild()


def blocks_of(content: ContentIn | SystemContentIn) -> Blocks:
    """The core's blocks; a string is one text block."""
    if isinstance(content, str):
        return (text_block(content),)
    return tuple(
        block.block() if isinstance(block, DataIn | ToolCallIn | ToolResultIn) else block
        for block in content
    )
