"""Bodies of Anthropic Messages.

Source: docs/semantics/importers.md#anthropicmessages.
"""

from app.importers.anthropic_blocks import answer_blocks, content_blocks, flat_blocks
from app.importers.gathering import Gathering
from app.importers.reading import JsonObject, objects, text_or_none, whole
from app.importers.tools import add_tool
from app.importers.transcript import Imported, InvalidTranscript

_OF_BODY = frozenset({"model", "messages", "tools", "system"})
_OF_MESSAGE = frozenset({"role", "content"})


def read(transcript: object, model: str | None) -> Imported:
    """A body, or its messages alone.

    Raises:
        InvalidTranscript: It is no body of a message.
    """
    body, path = whole(transcript, "messages")
    gathering = Gathering()
    named = text_or_none(body.get("model")) or model
    if body.get("system") is not None:
        gathering.system(flat_blocks(body["system"], "transcript.system", gathering))
    for message, key in objects(body["messages"], path):
        gathering.left_out(message, _OF_MESSAGE)
        _message(message, key, gathering, named)
    gathering.settings(body, _OF_BODY)
    for tool, key in objects(body.get("tools"), "transcript.tools"):
        _tool(tool, key, gathering)
    return gathering.imported()


def _message(message: JsonObject, key: str, gathering: Gathering, model: str | None) -> None:
    content = message.get("content")
    match message.get("role"):
        case "user":
            gathering.given(content_blocks(content, f"{key}.content", gathering))
        case "assistant":
            gathering.assistant(answer_blocks(content, f"{key}.content", gathering, model))
        case "system":
            gathering.system(flat_blocks(content, f"{key}.content", gathering))
        case _:
            raise InvalidTranscript("a message must have a known role", key=f"{key}.role")


def _tool(tool: JsonObject, key: str, gathering: Gathering) -> None:
    sort = text_or_none(tool.get("type"))
    if sort not in (None, "custom"):
        gathering.about_all("tool_left_out", sort)
    else:
        add_tool(tool, key, gathering, "input_schema", {"type"})
