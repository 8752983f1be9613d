"""Bodies of OpenAI Responses: instructions, and a list of items.

Source: docs/semantics/importers.md#openairesponses.
"""

from app.core.blocks import text_block
from app.importers.gathering import Gathering
from app.importers.reading import objects, text_of, text_or_none, whole
from app.importers.response_items import add_item
from app.importers.tools import add_tool
from app.importers.transcript import Imported

_OF_BODY = frozenset({"model", "input", "instructions", "tools"})


def read(transcript: object, model: str | None) -> Imported:
    """A body, or its items alone.

    Raises:
        InvalidTranscript: It is no body of a response.
    """
    body, path = whole(transcript, "input")
    gathering = Gathering()
    named = text_or_none(body.get("model")) or model
    instructions = body.get("instructions")
    if instructions is not None:
        gathering.system((text_block(text_of(instructions, "transcript.instructions")),))
    given = body["input"]
    if isinstance(given, str):
        gathering.user((text_block(given),))
    else:
        for item, key in objects(given, path):
            add_item(item, key, gathering, named)
    gathering.settings(body, _OF_BODY)
    for tool, key in objects(body.get("tools"), "transcript.tools"):
        sort = text_or_none(tool.get("type"))
        if sort in (None, "function"):
            add_tool(tool, key, gathering, "parameters", {"type"})
        else:
            gathering.about_all("tool_left_out", sort)
    return gathering.imported()
