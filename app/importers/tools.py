"""Tool definitions of transcripts as agents have them.

Source: docs/semantics/importers.md#tools.
"""

from collections.abc import Set

from app.core.agent import Tool
from app.importers.gathering import Gathering
from app.importers.reading import JsonObject, text_or_none
from app.importers.transcript import InvalidTranscript


def add_tool(
    given: JsonObject, key: str, gathering: Gathering, schema: str, known: Set[str] = frozenset()
) -> None:
    """Add a tool with a name, a description and its parameters.

    Args:
        given: The definition.
        key: Where it stands.
        gathering: Takes the tool, and what has no place in it.
        schema: The field of the parameters.
        known: Further fields that say nothing.

    Raises:
        InvalidTranscript: It has no name, or its parameters are no object.
    """
    name, parameters = given.get("name"), given.get(schema)
    if not isinstance(name, str) or not name:
        raise InvalidTranscript("a tool must have a name", key=f"{key}.name")
    if parameters is not None and not isinstance(parameters, dict):
        raise InvalidTranscript("parameters must be an object", key=f"{key}.{schema}")
    for field, value in given.items():
        if field not in {"name", "description", schema, *known} and value is not None:
            gathering.about_all("field_left_out", f"tools.{name}.{field}")
    description = text_or_none(given.get("description")) or ""
    gathering.tools.append(Tool(name=name, description=description, parameters=parameters or {}))
