"""A neutral request as values: what every encoder is given.

Source: docs/semantics/encoders.md#the-request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.blocks import Blocks
from app.core.content import decode_content
from app.core.items import Item
from app.core.messages import Role
from app.core.tool_surface import SystemMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralTool:
    """A tool as a request advertises it."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralMessage:
    """A message behind the system messages. A tool message holds one result."""

    role: Role
    blocks: Blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralRequest:
    """A prepared request: paired, and with system messages in front only."""

    model: str
    system: tuple[Blocks, ...]
    """The content of each system message, in order."""
    messages: tuple[NeutralMessage, ...]
    tools: tuple[NeutralTool, ...]
    generation: Mapping[str, object]
    """Settings that somebody gave: `temperature`, `top_p`, `thinking`, `tool_choice`, `stop`, …"""
    max_output_tokens: int | None


def messages_of(items: Sequence[Item]) -> tuple[NeutralMessage, ...]:
    """The messages of a prepared conversation."""
    return tuple(
        NeutralMessage(role=item.role, blocks=decode_content(item.content)) for item in items
    )


def system_of(parts: Sequence[SystemMessage]) -> tuple[Blocks, ...]:
    """The content of the system parts of a prepared call."""
    return tuple(decode_content(part.form.content) for part in parts)
