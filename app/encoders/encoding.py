"""Encodings: a request in a provider's words, and what had to be changed for it.

Source: docs/semantics/encoders.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from app.core.canonical import Json
from app.encoders.request import NeutralRequest

Format: TypeAlias = Literal[
    "openai.chat",
    "openai.responses",
    "anthropic.messages",
    "gemini.generate_content",
    "bedrock.converse",
    "mistral.chat",
]
ElementPath: TypeAlias = Literal["messages", "input", "contents"]
CachePolicy: TypeAlias = Literal["none", "auto"]
"""Whether breakpoints are set for providers that want to be told what to cache."""

EncodingRepairCode: TypeAlias = Literal[
    "call_id_renamed",
    "foreign_thinking_dropped",
    "unsigned_thinking_dropped",
    "foreign_state_dropped",
    "foreign_block_dropped",
    "empty_text_dropped",
    "empty_message_dropped",
    "placeholder_added",
    "bridge_added",
    "last_message_continued",
    "messages_merged",
    "arguments_wrapped",
    "media_replaced",
    "media_moved",
    "setting_dropped",
    "schema_keyword_dropped",
    "signature_placeholder",
    "system_moved",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingRepair:
    """Something that a body has other than its neutral request; positions and counts are kept."""

    code: EncodingRepairCode
    message_index: int | None
    """Of the neutral message behind the system messages; None where it is about no message."""
    call_id: str | None = None
    """The neutral one."""
    detail: str | None = None
    """A setting, a keyword or a media type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a body is posted, for providers that have the model in the path."""

    method: Literal["POST"]
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingOptions:
    """What an encoding depends on beside the request."""

    cache: CachePolicy = "auto"
    accepts_data_blocks: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """A request in a provider's words."""

    path: ElementPath
    """The body's field that holds the elements."""
    elements: tuple[Mapping[str, Json], ...]
    """The messages in order, without cache breakpoints; an equal neutral prefix gives an equal
    prefix of these, but for the documented marks of a last one."""
    fields: Mapping[str, Json]
    """Everything else of the body; the elements stand behind `model` or first."""
    cached: Mapping[int, Mapping[str, Json]] = field(default_factory=dict)
    """The elements that carry a cache breakpoint, by their index."""
    call_ids: Mapping[str, str] = field(default_factory=dict)
    """Neutral call ids by the ids that the body has, only where they differ."""
    target: Target | None = None
    repairs: tuple[EncodingRepair, ...] = ()

    def body(self) -> dict[str, Json]:
        """The body as JSON."""
        fields = dict(self.fields)
        model = {"model": fields.pop("model")} if "model" in fields else {}
        elements: list[Json] = [
            dict(self.cached.get(index, element)) for index, element in enumerate(self.elements)
        ]
        return {**model, self.path: elements, **fields}


Encode: TypeAlias = Callable[[NeutralRequest, EncodingOptions], Encoded]
"""An encoder: equal input gives equal bodies, and no request that is paired is refused."""
