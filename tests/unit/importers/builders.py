"""Short ways to import a transcript and to say what came of it."""

import json
from typing import Any, TypeAlias

from app.core.content import block_json
from app.importers.formats import IMPORTERS
from app.importers.transcript import Imported, ImportFormat

Json: TypeAlias = dict[str, Any]

TEXT: Json = {"type": "text", "text": "t"}


def imported(name: ImportFormat, transcript: object, model: str | None = None) -> Imported:
    return IMPORTERS[name](transcript, model)


def lines(*rows: object) -> str:
    """Rows as lines of JSON; a text is a line as it is."""
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)


def messages_of(found: Imported) -> list[tuple[str, list[Json]]]:
    """Roles and blocks, without what is as always."""
    return [
        (message.role, [shortened(block_json(block)) for block in message.blocks])
        for message in found.messages
    ]


def shortened(block: Json) -> Json:
    """A block without defaults, a text alone as it is."""
    kept = {
        key: value
        for key, value in block.items()
        if (key, value) not in DEFAULTS and value is not None
    }
    if "output" in kept:
        kept["output"] = [shortened(inner) for inner in kept["output"]]
    return kept


DEFAULTS = [("state", "finished"), ("state", "success")]


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def call(call_id: str, name: str = "read", arguments: str = "{}", **fields: Any) -> Json:
    return {"type": "tool_call", "id": call_id, "name": name, "input": arguments, **fields}


def result(call_id: str, *said: str, **fields: Any) -> Json:
    return {
        "type": "tool_result",
        "id": call_id,
        "output": [text(each) for each in said],
        **fields,
    }


def state(driver: str, data: object, model: str = "m") -> Json:
    return {"provider_state": {"driver": driver, "model": model, "data": data}}


def told(found: Imported) -> list[tuple[Any, ...]]:
    """The repairs as tuples, without what is not there."""
    return [
        tuple(
            value
            for value in (repair.code, repair.message_index, repair.call_id, repair.detail)
            if value is not None
        )
        for repair in found.repairs
    ]


def skipped(found: Imported) -> list[tuple[int, str]]:
    return [(line.line, line.code) for line in found.skipped]


def system_of(found: Imported) -> list[tuple[str, list[Json]]]:
    return [
        (part.key, [block_json(block) for block in part.content]) for part in found.system_parts
    ]
