"""Prepared calls as encoders take them, and what of a body a provider may cache.

Source: docs/semantics/encoders.md#in-prepare.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, cast

from app.core import canonical
from app.core.canonical import Json
from app.core.engine import PreparedCall
from app.core.prefix import Elements
from app.core.tool_surface import ToolDefinition
from app.encoders.encoding import Encoded
from app.encoders.request import NeutralRequest, NeutralTool, messages_of, system_of

_SYSTEM_ROLES = ("system", "developer")
_SYSTEM_FIELDS = ("system", "systemInstruction", "instructions")
"""Where formats have system parts outside of their messages."""
_TOOL_FIELDS = ("tools", "toolConfig")


def neutral_request(call: PreparedCall) -> NeutralRequest:
    """A prepared call as an encoder takes it."""
    return NeutralRequest(
        model=call.model,
        system=system_of(call.surface.system),
        messages=messages_of(call.conversation),
        tools=tuple(_tool(tool) for tool in call.surface.tools),
        generation={name: value for name, value in call.generation.items() if value is not None},
        max_output_tokens=call.profile.max_output_tokens,
    )


def _tool(tool: ToolDefinition) -> NeutralTool:
    # Only bytes that hold these three are made, so their shape is known.
    said = cast("dict[str, Any]", canonical.decode(tool.encoded))
    return NeutralTool(
        name=said["name"], description=said["description"], parameters=said["parameters"]
    )


def encoded_elements(encoded: Encoded) -> Elements:
    """The elements of a body, cache breakpoints aside: where they stand breaks no cache."""
    elements = [canonical.encode(dict(element)) for element in encoded.elements]
    roles = [element.get("role") for element in encoded.elements]
    in_front = next((at for at, role in enumerate(roles) if role not in _SYSTEM_ROLES), len(roles))
    return Elements(
        digests=tuple(sha256(element).digest() for element in elements),
        sizes=tuple(map(len, elements)),
        system_count=in_front,
        system_fields=tuple(_fields(encoded.fields, _SYSTEM_FIELDS)),
        tools=tuple(_fields(encoded.fields, _TOOL_FIELDS)),
    )


def _fields(fields: Mapping[str, Json], names: tuple[str, ...]) -> Iterator[bytes]:
    """The bytes of these fields; of a list, those of each item."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, list):
            yield from map(canonical.encode, value)
        elif value is not None:
            yield canonical.encode(value)
