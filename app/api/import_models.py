"""Imports on the wire: transcripts of providers and of other programs."""

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Field, JsonValue

from app.api.answers import Answer
from app.api.message_models import RepairOut
from app.api.validation import WireModel
from app.api.wire import ModelName
from app.core.content import block_json
from app.core.messages import Role
from app.importers.transcript import Imported, ImportedMessage, ImportFormat, ImportRepair, SkipCode

TranscriptIn: TypeAlias = str | list[JsonValue] | dict[str, JsonValue]


class ImportIn(WireModel):
    """A transcript, and the format that it has."""

    format: ImportFormat
    transcript: Annotated[
        TranscriptIn,
        Field(description="A provider's whole body or its messages; lines as text or as a list."),
    ]
    model: Annotated[
        ModelName | None,
        Field(description="Whose provider state it is, where the transcript names no model."),
    ] = None


class ImportedPartOut(BaseModel):
    """A system part of an agent."""

    key: str
    content: list[dict[str, Any]]


class ImportedToolOut(BaseModel):
    """A tool of an agent."""

    name: str
    description: str
    parameters: dict[str, Any]


class ImportedMessageOut(BaseModel):
    """A message to append. What is not said of its visibility is true."""

    role: Role
    content: list[dict[str, Any]]
    agent_visible: bool = True
    user_visible: bool = True


class SkippedOut(BaseModel):
    """A line without a part in the import, from 1; of a list, the entry."""

    line: int
    code: SkipCode


class ImportedOut(BaseModel):
    """A transcript as what an agent and a session are made of."""

    system_parts: list[ImportedPartOut]
    tools: list[ImportedToolOut]
    messages: list[ImportedMessageOut]
    repairs: list[RepairOut | dict[str, Any]]
    skipped: list[SkippedOut]


def imported_answer(imported: Imported, of_body: list[Answer]) -> Answer:
    """An import with all that was changed or skipped."""
    return {
        "system_parts": [
            {"key": part.key, "content": [block_json(block) for block in part.content]}
            for part in imported.system_parts
        ],
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in imported.tools
        ],
        "messages": [_message(message) for message in imported.messages],
        "repairs": [*of_body, *map(_repair, imported.repairs)],
        "skipped": [{"line": line.line, "code": line.code} for line in imported.skipped],
    }


def _message(message: ImportedMessage) -> Answer:
    answer: Answer = {
        "role": message.role,
        "content": [block_json(block) for block in message.blocks],
    }
    if not message.agent_visible:
        answer["agent_visible"] = False
    if not message.user_visible:
        answer["user_visible"] = False
    return answer


def _repair(repair: ImportRepair) -> Answer:
    answer: Answer = {"code": repair.code}
    for name in ("message_index", "call_id", "detail"):
        value = getattr(repair, name)
        if value is not None:
            answer[name] = value
    return answer
