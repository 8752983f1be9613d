"""Tells the service which files a recorded tool changed, as a worker's own tools would."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

CHANGING_TOOLS = frozenset({"edit", "write"})


def with_file_changes(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages in order; a result that changed a file gets an artifact that says so."""
    paths: dict[str, str] = {}
    for message in messages:
        content: list[dict[str, Any]] = message["content"]
        for block in content:
            if block["type"] == "tool_call" and block["name"] in CHANGING_TOOLS:
                paths[block["id"]] = json.loads(block["input"])["path"]
        yield {**message, "content": [_told(block, paths) for block in content]}


def _told(block: dict[str, Any], paths: Mapping[str, str]) -> dict[str, Any]:
    if block["type"] != "tool_result" or block["state"] != "success" or block["id"] not in paths:
        return block
    payload = {"path": paths[block["id"]], "undone": False}
    return {**block, "artifacts": [{"kind": "file_change", "payload": payload}]}
