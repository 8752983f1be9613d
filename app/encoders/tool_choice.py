"""What a caller asks of a model about tools, in whichever words it was given.

Source: docs/semantics/encoders.md#tool-choice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

ChoiceMode: TypeAlias = Literal["auto", "none", "required"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTool:
    """The one tool that must be called."""

    name: str


ToolChoice: TypeAlias = ChoiceMode | NamedTool

_MODES: Mapping[str, ChoiceMode] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}


def tool_choice(value: object) -> ToolChoice | None:
    """The choice that a setting asks for; None where its words are not known.

    >>> tool_choice("any"), tool_choice({"name": "read"}), tool_choice({"type": "auto"})
    ('required', NamedTool(name='read'), 'auto')
    """
    if isinstance(value, str):
        return _MODES.get(value)
    if not isinstance(value, Mapping):
        return None
    function = value.get("function")
    name = function.get("name") if isinstance(function, Mapping) else value.get("name")
    if isinstance(name, str):
        return NamedTool(name=name)
    mode = value.get("type")
    return _MODES.get(mode) if isinstance(mode, str) else None
