"""A conversation as text for a model that summarises it: a label, and the parts behind it.

Source: docs/semantics/goose.md#text-for-the-summariser.
"""

from collections.abc import Iterable

from app.core import canonical
from app.core.blocks import Block, Data, FileIdSource, Text, ToolCall, ToolResult
from app.core.call_input import NO_ARGUMENTS, NOT_AN_OBJECT, call_arguments
from app.core.content import decode_content
from app.core.facts import joined_text
from app.core.items import Item

_EMPTY = "<empty message>"
_SPEAKERS = {"tool": "user"}
"""A tool result is told as the user's, for whom the tool ran."""


def conversation_text(items: Iterable[Item]) -> str:
    """The messages as text, one behind the other on lines of their own."""
    return "\n".join(map(message_text, items))


def message_text(item: Item) -> str:
    """A message as text: thinking and a provider's own blocks are left out."""
    parts = [part for block in decode_content(item.content) if (part := _part(block)) is not None]
    speaker = _SPEAKERS.get(item.role, item.role)
    return f"[{speaker}]: " + ("\n".join(parts) if parts else _EMPTY)


def _part(block: Block) -> str | None:
    match block:
        case Text(text=text):
            return text
        case Data():
            return _media(block)
        case ToolCall():
            return _request(block)
        case ToolResult():
            return f"tool_response: {_response(block)}"
        case _:
            return None


def _media(data: Data) -> str:
    if isinstance(data.source, FileIdSource):
        return "[document: file]"
    media_type = data.source.media_type
    sort = "image" if media_type[:6].lower() == "image/" else "document"
    return f"[{sort}: {media_type}]"


def _request(call: ToolCall) -> str:
    arguments = call_arguments(call)
    if arguments is NOT_AN_OBJECT:
        return "tool_request: [error]"
    written = None if arguments is NO_ARGUMENTS else arguments
    return f"tool_request({call.name}): {canonical.encode(written).decode()}"


def _response(result: ToolResult) -> str:
    if any(isinstance(block, Text) for block in result.output):
        return joined_text(result.output)
    if result.state == "success" or result.output:
        return "[non-text content]"
    return "[error]"
