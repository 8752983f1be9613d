"""The arguments of a tool call: its input is text, which a model wrote.

Source: docs/semantics/goose.md#text-for-the-summariser.
"""

from enum import Enum
from typing import Final, Literal, TypeAlias

from app.core.blocks import ToolCall
from app.core.canonical import Json
from app.core.json_text import json_object
from app.core.text import is_blank


class _NoObject(Enum):
    ABSENT = "absent"
    FAULTY = "faulty"


NO_ARGUMENTS: Final = _NoObject.ABSENT
"""Of a call whose input is blank or JSON's null."""
NOT_AN_OBJECT: Final = _NoObject.FAULTY
"""Of a call whose input is anything else than a JSON object, cut off for example."""

Arguments: TypeAlias = dict[str, Json] | Literal[_NoObject.ABSENT, _NoObject.FAULTY]


def call_arguments(call: ToolCall) -> Arguments:
    """The arguments of a call, in the order in which they were written."""
    if is_blank(call.input) or call.input == "null":
        return NO_ARGUMENTS
    value = json_object(call.input)
    return NOT_AN_OBJECT if value is None else value
