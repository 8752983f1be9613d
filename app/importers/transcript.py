"""Transcripts as neutral values, and what of them could not be taken as it was.

Source: docs/semantics/importers.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core.agent import SystemPart, Tool
from app.core.blocks import Blocks
from app.core.errors import ContextError
from app.core.messages import Role

ImportFormat: TypeAlias = Literal[
    "openai.chat",
    "openai.responses",
    "anthropic.messages",
    "gemini.generate_content",
    "bedrock.converse",
    "mistral.chat",
    "claude_code.jsonl",
    "codex.rollout",
    "langchain.messages",
    "inspect.messages",
]

ImportRepairCode: TypeAlias = Literal[
    "system_message_framed",
    "orphan_result_framed",
    "call_id_made",
    "call_id_renamed",
    "result_paired_by_name",
    "block_kept_opaque",
    "empty_message_dropped",
    "field_left_out",
    "setting_left_out",
    "tool_left_out",
    "state_left_out",
    "lone_surrogate_replaced",
]

SkipCode: TypeAlias = Literal[
    "not_json",
    "not_an_object",
    "invalid_message",
    "unknown_line",
    "repeated_line",
    "sidechain",
    "event",
    "note",
]


class InvalidTranscript(ContextError):
    """A transcript cannot be read at all in the format that it is said to have."""

    code = "invalid_transcript"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedMessage:
    """A message as an append takes it."""

    role: Role
    blocks: Blocks
    agent_visible: bool = True
    user_visible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRepair:
    """Something that is other than in the transcript."""

    code: ImportRepairCode
    message_index: int | None
    """Of the imported message; None where it is about no message."""
    call_id: str | None = None
    """The one that the imported call has."""
    detail: str | None = None
    """A role, a field, a type or an id of the transcript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A line without a part in the import."""

    line: int
    """From 1; of a list, the entry."""
    code: SkipCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A transcript as values: what an agent and a session are made of."""

    system_parts: tuple[SystemPart, ...]
    tools: tuple[Tool, ...]
    messages: tuple[ImportedMessage, ...]
    repairs: tuple[ImportRepair, ...]
    skipped: tuple[Skipped, ...] = ()


Import: TypeAlias = Callable[[object, str | None], Imported]
"""An importer: a transcript, and the model where the transcript does not name it."""
