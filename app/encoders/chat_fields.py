"""Tools and settings as the chat family has them.

Source: docs/semantics/encoders.md#the-chat-family.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from app.core.canonical import Json
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest, NeutralTool
from app.encoders.tool_choice import NamedTool, tool_choice

LimitField: TypeAlias = Literal["max_completion_tokens", "max_tokens"]

_OF_TOOLS = frozenset({"tool_choice", "parallel_tool_calls"})
"""Settings that are refused where there are no tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFields:
    """What fields a member of the family has beside the messages."""

    limit: LimitField
    """Of the output."""
    settings: Set[str]
    """Settings that it has under the neutral name."""
    renamed: Mapping[str, str]
    """Fields by the neutral name of a setting."""
    required: Literal["required", "any"]
    """The word for a model that must call some tool."""


def chat_fields(request: NeutralRequest, known: ChatFields, log: RepairLog) -> dict[str, Json]:
    """Everything of a body but the messages; what has no field is told in `log`."""
    fields: dict[str, Json] = {"model": request.model}
    if request.max_output_tokens is not None:
        fields[known.limit] = request.max_output_tokens
    if request.tools:
        fields["tools"] = _tools(request.tools, log)
    for name, value in request.generation.items():
        if value is None:
            continue
        field = _field(name, known)
        taken = _choice(value, known) if name == "tool_choice" else cast("Json", value)
        if field is None or taken is None or (name in _OF_TOOLS and not request.tools):
            log.add("setting_dropped", None, detail=name)
        else:
            # Settings came as JSON.
            fields[field] = taken
    return fields


def _field(name: str, known: ChatFields) -> str | None:
    if name in known.renamed:
        return known.renamed[name]
    return name if name in known.settings else None


def _choice(value: object, known: ChatFields) -> Json:
    choice = tool_choice(value)
    match choice:
        case NamedTool(name=name):
            return {"type": "function", "function": {"name": name}}
        case "required":
            return known.required
        case _:
            return choice


def _tools(tools: Sequence[NeutralTool], log: RepairLog) -> list[Json]:
    return [_tool(tool, log) for tool in tools]


def _tool(tool: NeutralTool, log: RepairLog) -> Json:
    # Schemas came as JSON.
    parameters = cast("dict[str, Json]", dict(tool.parameters))
    if not parameters:
        log.add("placeholder_added", None, detail=tool.name)
        parameters = {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": parameters,
        },
    }
