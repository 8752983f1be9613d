"""Content blocks: the pieces of a message.

Tags have no default, so that a block without one is refused instead of
guessed. The fields stand in the order in which they are serialised.

Source: docs/semantics/content.md#blocks.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

CallState: TypeAlias = Literal["pending", "submitted", "finished"]
ResultState: TypeAlias = Literal["success", "error", "interrupted", "denied", "running"]

Reader: TypeAlias = Literal["user", "assistant"]
"""Who reads a piece of content: people, or the agent's model."""
Audience: TypeAlias = tuple[Reader, ...] | None
"""The readers of a piece. None is everybody, and an empty list is nobody."""

_FORBID_UNKNOWN_KEYS: dict[str, str] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderState:
    """Opaque state of a provider, replayed only to the model that made it."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    driver: str
    model: str
    data: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text that the model reads or wrote."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    type: Literal["text"]
    text: str
    provider_state: ProviderState | None = None
    audience: Audience = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """Reasoning of the assistant."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    type: Literal["thinking"]
    thinking: str
    provider_state: ProviderState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlSource:
    """Media behind an address."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    source_type: Literal["url"]
    url: str
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Base64Source:
    """Media in the message itself."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    source_type: Literal["base64"]
    data: str
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIdSource:
    """Media that the provider holds under an id."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    source_type: Literal["file_id"]
    id: str


DataSource: TypeAlias = UrlSource | Base64Source | FileIdSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """An image, a document or another medium."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    type: Literal["data"]
    source: DataSource
    name: str | None = None
    audience: Audience = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the assistant asks for; `input` is JSON text."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    type: Literal["tool_call"]
    id: str
    name: str
    input: str
    state: CallState = "finished"
    provider_state: ProviderState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """Something for people beside a result; no model sees it and it never counts."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    kind: str
    payload: object


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The answer to the call of the same id."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    type: Literal["tool_result"]
    id: str
    name: str | None = None
    output: "tuple[Block, ...]"
    state: ResultState = "success"
    artifacts: tuple[Artifact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderOpaque:
    """A block of a provider's own, replayed only to the same driver."""

    __pydantic_config__: ClassVar[dict[str, str]] = _FORBID_UNKNOWN_KEYS

    type: Literal["provider_opaque"]
    driver: str
    kind: str
    payload: object


Block: TypeAlias = Text | Thinking | Data | ToolCall | ToolResult | ProviderOpaque
Blocks: TypeAlias = tuple[Block, ...]


def text_block(text: str) -> Text:
    """A text block without provider state."""
    return Text(type="text", text=text)
