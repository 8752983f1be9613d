"""Tools and settings as OpenAI's Responses have them.

Source: docs/semantics/encoders.md#openairesponses.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from app.core.canonical import Json
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest, NeutralTool
from app.encoders.tool_choice import NamedTool, tool_choice

_SETTINGS = frozenset(
    {
        "include",
        "metadata",
        "parallel_tool_calls",
        "prompt_cache_key",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "temperature",
        "text",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)
_OF_TOOLS = frozenset({"tool_choice", "parallel_tool_calls"})
_REASONS = re.compile(r"(?:.*[/.:])?(?:o[0-9]|gpt-[5-9]|codex).*", re.DOTALL)
"""Models that reason; of others encrypted reasoning is refused."""
ENCRYPTED = "reasoning.encrypted_content"


def response_fields(request: NeutralRequest, log: RepairLog) -> dict[str, Json]:
    """Everything of a body but the items; nothing is left with the provider."""
    fields: dict[str, Json] = {"model": request.model, "store": False}
    if _REASONS.fullmatch(request.model) is not None:
        fields["include"] = [ENCRYPTED]
    if request.max_output_tokens is not None:
        fields["max_output_tokens"] = request.max_output_tokens
    if request.tools:
        fields["tools"] = _tools(request.tools, log)
    for name, value in request.generation.items():
        taken = _setting(name, value, fields)
        if taken is None or (name in _OF_TOOLS and not request.tools):
            log.add("setting_dropped", None, detail=name)
        else:
            fields |= taken
    return fields


def _setting(name: str, value: object, fields: Mapping[str, Json]) -> dict[str, Json] | None:
    """The field of a setting; None where it has none."""
    # Settings came as JSON.
    given = cast("Json", value)
    match name:
        case "tool_choice":
            choice = _choice(value)
            return None if choice is None else {name: choice}
        case "reasoning_effort":
            return {"reasoning": {**_object(fields.get("reasoning")), "effort": given}}
        case "verbosity":
            return {"text": {**_object(fields.get("text")), "verbosity": given}}
        case "response_format":
            form = _format(value)
            return None if form is None else {"text": {**_object(fields.get("text")), **form}}
        case "reasoning" | "text" if isinstance(given, dict):
            return {name: {**_object(fields.get(name)), **given}}
        case _:
            return {name: given} if name in _SETTINGS else None


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _format(value: object) -> dict[str, Json] | None:
    """A format as it is said for Chat Completions, in the words of Responses."""
    if not isinstance(value, dict):
        return None
    schema = value.get("json_schema")
    inside = schema if isinstance(schema, dict) else {}
    return {"format": {"type": value.get("type"), **inside}}


def _choice(value: object) -> Json:
    choice = tool_choice(value)
    if isinstance(choice, NamedTool):
        return {"type": "function", "name": choice.name}
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
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
        # Strict is the default here, and asks for schemas that few tools have.
        "strict": False,
    }
