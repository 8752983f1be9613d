"""Tools and settings as Gemini's generateContent has them.

Source: docs/semantics/encoders.md#geminigenerate_content.
"""

from collections.abc import Mapping
from typing import cast

from app.core.canonical import Json
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest, NeutralTool
from app.encoders.tool_choice import NamedTool, tool_choice
from app.encoders.turns import Part

_CONFIG: Mapping[str, str] = {
    "candidate_count": "candidateCount",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "seed": "seed",
    "temperature": "temperature",
    "top_k": "topK",
    "top_p": "topP",
}
_FIELDS = frozenset({"cachedContent", "labels", "safetySettings"})
_STOPS = frozenset({"stop", "stop_sequences"})
_MODES: Mapping[str, str] = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_THINKING = frozenset({"includeThoughts", "thinkingBudget", "thinkingLevel"})


def gemini_fields(request: NeutralRequest, log: RepairLog) -> dict[str, Json]:
    """Everything of a body but the system parts and the contents."""
    fields: dict[str, Json] = {}
    config: Part = {}
    if request.max_output_tokens is not None:
        config["maxOutputTokens"] = request.max_output_tokens
    for name, value in request.generation.items():
        if name in _FIELDS:
            # Settings came as JSON.
            fields[name] = cast("Json", value)
            continue
        taken = _configured(name, value)
        if taken is not None:
            config |= taken
        elif name != "tool_choice":
            log.add("setting_dropped", None, detail=name)
    if config:
        fields["generationConfig"] = config
    return {**fields, **_tools(request, log)}


def _configured(name: str, value: object) -> Part | None:
    """The fields of a setting in `generationConfig`; None where it has none."""
    given = cast("Json", value)
    if name in _CONFIG:
        return {_CONFIG[name]: given}
    if name in _STOPS:
        return {"stopSequences": given if isinstance(given, list) else [given]}
    if name == "thinking":
        thinking = _thinking(value)
        return None if thinking is None else {"thinkingConfig": thinking}
    if name == "response_format":
        return _format(value)
    return None


def _thinking(value: object) -> Part | None:
    """How much a model thinks, in Google's words or in Anthropic's."""
    if not isinstance(value, Mapping):
        return None
    known: Part = {name: item for name, item in value.items() if name in _THINKING}
    if known:
        return known
    budget = value.get("budget_tokens")
    match value.get("type"):
        case "disabled":
            return {"thinkingBudget": 0}
        case "enabled" if isinstance(budget, int):
            return {"thinkingBudget": budget, "includeThoughts": True}
        case "adaptive":
            return {"includeThoughts": True}
        case _:
            return None


def _format(value: object) -> Part | None:
    if not isinstance(value, Mapping):
        return None
    schema = value.get("json_schema")
    match value.get("type"):
        case "json_object":
            return {"responseMimeType": "application/json"}
        case "json_schema" if isinstance(schema, Mapping) and "schema" in schema:
            return {"responseMimeType": "application/json", "responseJsonSchema": schema["schema"]}
        case _:
            return None


def _tools(request: NeutralRequest, log: RepairLog) -> Part:
    asked = request.generation.get("tool_choice")
    choice = tool_choice(asked) if request.tools else None
    if asked is not None and choice is None:
        log.add("setting_dropped", None, detail="tool_choice")
    if not request.tools:
        return {}
    declared: list[Json] = [_declaration(tool) for tool in request.tools]
    tools: Part = {"tools": [{"functionDeclarations": declared}]}
    if choice is None:
        return tools
    called: Part = (
        {"mode": "ANY", "allowedFunctionNames": [choice.name]}
        if isinstance(choice, NamedTool)
        else {"mode": _MODES[choice]}
    )
    return {**tools, "toolConfig": {"functionCallingConfig": called}}


def _declaration(tool: NeutralTool) -> Part:
    # Schemas came as JSON. This field takes a schema whole; `parameters` knows a part of it alone.
    schema = cast("Part", dict(tool.parameters))
    parameters: Part = {"parametersJsonSchema": schema} if schema else {}
    return {"name": tool.name, "description": tool.description, **parameters}
