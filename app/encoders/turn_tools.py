"""Tools of requests whose messages are turns.

Source: docs/semantics/encoders.md#turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from app.core.canonical import Json
from app.encoders.placeholders import NO_TOOL_DESCRIPTION, NO_TOOL_NAME
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest, NeutralTool
from app.encoders.turns import Part, Turn

_CALLS = ("tool_use", "toolUse")
_RESULTS = ("tool_result", "toolResult")
_THOUGHTS = ("thinking", "redacted_thinking", "reasoningContent")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvertisedTool:
    """A tool with a schema that is one of an object."""

    name: str
    description: str
    schema: Part


def advertised(
    request: NeutralRequest, turns: Sequence[Turn], log: RepairLog
) -> tuple[AdvertisedTool, ...]:
    """The tools of a request; one that is never called where calls stand beside no tools."""
    if request.tools:
        return tuple(_tool(tool, log) for tool in request.tools)
    if not any(_is_of(part, _CALLS + _RESULTS) for turn in turns for part in turn.parts):
        return ()
    log.add("placeholder_added", None, detail=NO_TOOL_NAME)
    schema: Part = {"type": "object", "properties": {}}
    return (AdvertisedTool(name=NO_TOOL_NAME, description=NO_TOOL_DESCRIPTION, schema=schema),)


def begins_with_thinking(turns: Sequence[Turn]) -> bool:
    """Whether a model that thinks can go on: a loop under way must have begun with thinking."""
    loop: list[Turn] = []
    for turn in turns:
        if turn.speaker == "user" and turn.carries == "speech":
            loop = []
        elif turn.speaker == "assistant":
            loop.append(turn)
    return not loop or _is_of(loop[0].parts[0], _THOUGHTS)


def _tool(tool: NeutralTool, log: RepairLog) -> AdvertisedTool:
    # Schemas came as JSON.
    schema = cast("Part", dict(tool.parameters))
    if not schema:
        log.add("placeholder_added", None, detail=tool.name)
        schema = {"type": "object", "properties": {}}
    elif schema.get("type") != "object":
        # Arguments are an object whatever a schema leaves unsaid.
        log.add("placeholder_added", None, detail=tool.name)
        schema = {**schema, "type": "object"}
    return AdvertisedTool(name=tool.name, description=tool.description, schema=schema)


def _is_of(part: Part, sorts: tuple[str, ...]) -> bool:
    sort: Json = part.get("type")
    return sort in sorts or any(name in part for name in sorts)
