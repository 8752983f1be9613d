"""Tools and settings as Bedrock's Converse has them.

Source: docs/semantics/encoders.md#bedrockconverse.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from app.core.canonical import Json
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest
from app.encoders.tool_choice import NamedTool, tool_choice
from app.encoders.turn_thinking import FittedThinking, fitted_thinking
from app.encoders.turn_tools import advertised
from app.encoders.turns import Part, Turn

_INFERENCE: Mapping[str, str] = {"temperature": "temperature", "top_p": "topP"}
_SAMPLING = frozenset({*_INFERENCE, "top_k"})
"""What has no field of its own is in the model's own part of a request."""
_TOLD_ELSEWHERE = frozenset({"thinking", "tool_choice"})
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
    fitted = fitted_thinking(request, turns, log)
    fields: dict[str, Json] = {}
    inference: Part = {} if fitted.limit is None else {"maxTokens": fitted.limit}
    own: Part = {} if fitted.thinking is None else {"thinking": fitted.thinking}
    for name, value in request.generation.items():
        # Settings came as JSON.
        given = cast("Json", value)
        if name in _TOLD_ELSEWHERE:
            continue
        if name in _FIELDS:
            fields[name] = given
        elif name in _STOPS:
            inference["stopSequences"] = given if isinstance(given, list) else [given]
        elif name not in _SAMPLING or fitted.thinks:
            # A model that thinks takes no sampling.
            log.add("setting_dropped", None, detail=name)
        elif name in _INFERENCE:
            inference[_INFERENCE[name]] = given
        else:
            own[name] = given
    tools = _tools(request, turns, fitted, log)
    return {**fields, **_inference(inference), **_own(own, fields), **tools}


def _inference(settings: Part) -> Part:
    return {"inferenceConfig": settings} if settings else {}


def _own(settings: Part, fields: Mapping[str, Json]) -> Part:
    """The model's own settings; what somebody gave as such counts more."""
    given = fields.get(_OWN_FIELD)
    beside = given if isinstance(given, dict) else {}
    return {_OWN_FIELD: {**settings, **beside}} if settings else {}


def _tools(
    request: NeutralRequest, turns: Sequence[Turn], fitted: FittedThinking, log: RepairLog
) -> Part:
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
    choice = _choice(request, fitted) if tools else None
    if choice is None and request.generation.get("tool_choice") is not None:
        log.add("setting_dropped", None, detail="tool_choice")
    if not tools:
        return {}
    chosen: Part = {} if choice is None else {"toolChoice": choice}
    return {"toolConfig": {"tools": tools, **chosen}}


def _choice(request: NeutralRequest, fitted: FittedThinking) -> Part | None:
    """The choice; there are no words for no tool at all, and thinking lets none be forced."""
    match tool_choice(request.generation.get("tool_choice")) if request.tools else None:
        case NamedTool(name=name) if not fitted.thinks:
            return {"tool": {"name": name}}
        case "required" if not fitted.thinks:
            return {"any": {}}
        case "auto":
            return {"auto": {}}
        case _:
            return None
