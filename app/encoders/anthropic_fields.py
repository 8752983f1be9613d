"""Tools and settings as Anthropic's Messages have them.

Source: docs/semantics/encoders.md#anthropicmessages.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from app.core.canonical import Json
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest
from app.encoders.tool_choice import NamedTool, tool_choice
from app.encoders.turn_thinking import DEFAULT_MAX_TOKENS, FittedThinking, fitted_thinking
from app.encoders.turn_tools import advertised
from app.encoders.turns import Part, Turn

_SETTINGS = frozenset({"metadata", "service_tier", "container", "output_config", "inference_geo"})
_SAMPLING = ("temperature", "top_p", "top_k")
_SAMPLED = re.compile(
    r".*claude-(?:instant.*|[23](?![0-9]).*"
    r"|(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:[@-](?:v[0-9]|20[0-9]{2}|latest).*)?)",
    re.DOTALL,
)
"""Models that take the settings of sampling; later ones refuse them, and others are not known."""
_CHOICES: Mapping[str, str] = {"auto": "auto", "none": "none", "required": "any"}


@dataclass(slots=True, kw_only=True)
class AnthropicFields:
    """Everything of a body but the system parts and the messages, while it is put together."""

    request: NeutralRequest
    turns: Sequence[Turn]
    log: RepairLog
    fields: dict[str, Json] = field(init=False)
    _fitted: FittedThinking = field(init=False)

    def __post_init__(self) -> None:
        self.fields = {"model": self.request.model}
        self._fitted = fitted_thinking(self.request, self.turns, self.log)

    def all(self) -> dict[str, Json]:
        """The fields; what has none is told."""
        self._limit()
        self._tools()
        self._sampling()
        for name, value in self.request.generation.items():
            match name:
                case "thinking" | "tool_choice" | "parallel_tool_calls" | "temperature":
                    continue
                case "top_p" | "top_k":
                    continue
                case "stop" | "stop_sequences":
                    self.fields["stop_sequences"] = _listed(value)
                case _ if name in _SETTINGS:
                    # Settings came as JSON.
                    self.fields[name] = cast("Json", value)
                case _:
                    self._drop(name)
        return self.fields

    def _drop(self, name: str) -> None:
        self.log.add("setting_dropped", None, detail=name)

    def _limit(self) -> None:
        """The output limit, and the thinking that has to fit in it."""
        limit = self._fitted.limit
        self.fields["max_tokens"] = DEFAULT_MAX_TOKENS if limit is None else limit
        if self._fitted.thinking is not None:
            self.fields["thinking"] = self._fitted.thinking

    def _tools(self) -> None:
        tools = advertised(self.request, self.turns, self.log)
        if tools:
            self.fields["tools"] = [
                {
                    "name": tool.name,
                    **({"description": tool.description} if tool.description else {}),
                    "input_schema": tool.schema,
                }
                for tool in tools
            ]
        choice = self._choice()
        if choice is not None:
            self.fields["tool_choice"] = choice

    def _choice(self) -> Part | None:
        asked = self.request.generation.get("tool_choice")
        parallel = self.request.generation.get("parallel_tool_calls")
        choice = tool_choice(asked)
        if asked is not None and (
            choice is None
            or not self.request.tools
            or (self._fitted.thinks and choice not in ("auto", "none"))
        ):
            # A model that thinks cannot be made to call a tool.
            self._drop("tool_choice")
            choice = None
        if parallel is not None and not self.request.tools:
            self._drop("parallel_tool_calls")
            parallel = None
        if choice is None and parallel is None:
            return None
        if isinstance(choice, NamedTool):
            part: Part = {"type": "tool", "name": choice.name}
        else:
            part = {"type": _CHOICES[choice or "auto"]}
        if parallel is False and part["type"] != "none":
            part["disable_parallel_tool_use"] = True
        return part

    def _sampling(self) -> None:
        """The settings of sampling, which models that think or are new refuse."""
        asked = [name for name in _SAMPLING if self.request.generation.get(name) is not None]
        takes = _SAMPLED.fullmatch(self.request.model) is not None and not self._fitted.thinks
        for name in asked:
            if takes and not (name == "top_p" and "temperature" in asked):
                self.fields[name] = cast("Json", self.request.generation[name])
            else:
                self._drop(name)


def _listed(value: object) -> Json:
    return cast("Json", value if isinstance(value, list) else [value])
