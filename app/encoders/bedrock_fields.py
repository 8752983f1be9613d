"""Tools and settings as Bedrock's Converse has them.

Source: docs/semantics/encoders.md#bedrockconverse.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from app.core.canonical import Json
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest
from app.encoders.tool_choice import NamedTool, tool_choice
from app.encoders.turn_tools import advertised, begins_with_thinking
from app.encoders.turns import Part, Turn

_INFERENCE: Mapping[str, str] = {"temperature": "temperature", "top_p": "topP"}
_OF_THE_MODEL = frozenset({"thinking", "top_k"})
"""Settings without a field, which the model's own part of a request has."""
_STOPS = frozenset({"stop", "stop_sequences"})
_OWN_FIELD = "additionalModelRequestFields"
_FIELDS = frozenset(
    {
        _OWN_FIELD,
        "guardrailConfig",
        "outputConfig",
        "performanceConfig",
        "promptVariables",
        "requestMetadata",
        "serviceTier",
    }
)


def bedrock_fields(
    request: NeutralRequest, turns: Sequence[Turn], log: RepairLog
) -> dict[str, Json]:
    """Everything of a body but the system parts and the messages."""
    fields: dict[str, Json] = {}
    inference: Part = {}
    own: Part = {}
    if request.max_output_tokens is not None:
        inference["maxTokens"] = request.max_output_tokens
    for name, value in request.generation.items():
        # Settings came as JSON.
        given = cast("Json", value)
        if name in _INFERENCE:
            inference[_INFERENCE[name]] = given
        elif name in _STOPS:
            inference["stopSequences"] = given if isinstance(given, list) else [given]
        elif name in _OF_THE_MODEL and _may_think(name, value, turns):
            own[name] = given
        elif name in _FIELDS:
            fields[name] = given
        elif name != "tool_choice":
            log.add("setting_dropped", None, detail=name)
    return {**fields, **_inference(inference), **_own(own, fields), **_tools(request, turns, log)}


def _inference(settings: Part) -> Part:
    return {"inferenceConfig": settings} if settings else {}


def _own(settings: Part, fields: Mapping[str, Json]) -> Part:
    """The model's own settings; what somebody gave as such counts more."""
    given = fields.get(_OWN_FIELD)
    beside = given if isinstance(given, dict) else {}
    return {_OWN_FIELD: {**settings, **beside}} if settings else {}


def _may_think(name: str, value: object, turns: Sequence[Turn]) -> bool:
    if name != "thinking":
        return True
    is_off = isinstance(value, Mapping) and value.get("type") == "disabled"
    return is_off or begins_with_thinking(turns)


def _tools(request: NeutralRequest, turns: Sequence[Turn], log: RepairLog) -> Part:
    tools: list[Json] = [
        {
            "toolSpec": {
                "name": tool.name,
                **({"description": tool.description} if tool.description else {}),
                "inputSchema": {"json": tool.schema},
            }
        }
        for tool in advertised(request, turns, log)
    ]
    choice = _choice(request) if tools else None
    if choice is None and request.generation.get("tool_choice") is not None:
        log.add("setting_dropped", None, detail="tool_choice")
    if not tools:
        return {}
    chosen: Part = {} if choice is None else {"toolChoice": choice}
    return {"toolConfig": {"tools": tools, **chosen}}


def _choice(request: NeutralRequest) -> Part | None:
    """The choice; there are no words for no tool at all."""
    match tool_choice(request.generation.get("tool_choice")) if request.tools else None:
        case NamedTool(name=name):
            return {"tool": {"name": name}}
        case "required":
            return {"any": {}}
        case "auto":
            return {"auto": {}}
        case _:
            return None
