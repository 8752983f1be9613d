"""Bodies of OpenAI's Responses as rules look at them.

Source: docs/semantics/lint.md.
"""

from collections.abc import Mapping
from typing import Any

from app.encoders.lint.seen import (
    SeenBody,
    SeenCall,
    SeenMedium,
    SeenMessage,
    SeenOther,
    SeenPart,
    SeenResult,
    SeenText,
    SeenThinking,
    Speaker,
    data_of_address,
    is_object_text,
)

_SPEAKERS: Mapping[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}


def read(seen: SeenBody) -> None:
    """Read items and tools."""
    instructions, given = seen.body.get("instructions"), seen.body.get("input", [])
    if isinstance(instructions, str):
        seen.system.append(SeenText(path="instructions", text=instructions))
    if isinstance(given, str):
        text = SeenText(path="input", text=given)
        seen.messages.append(SeenMessage(speaker="user", path="input", parts=(text,)))
    else:
        for path, item in seen.objects(given, "input"):
            _item(item, path, seen)
    for path, tool in seen.objects(seen.body.get("tools") or [], "tools"):
        if tool.get("type") == "function":
            seen.tool(tool, path, tool.get("parameters"), "parameters")


def _item(item: Mapping[str, Any], path: str, seen: SeenBody) -> None:
    sort = item.get("type", "message")
    speaker: Speaker = "assistant"
    parts: list[SeenPart]
    match sort:
        case "message":
            role = item.get("role")
            found = _SPEAKERS.get(role) if isinstance(role, str) else None
            if found is None:
                seen.log.add("unknown_role", f"{path}.role", f"{role!r} is no role here")
                return
            speaker = found
            parts = _parts(item.get("content"), f"{path}.content", seen)
        case "function_call" | "custom_tool_call":
            parts = [_call(item, path, seen)]
        case "function_call_output" | "custom_tool_call_output":
            speaker = "user"
            output = _parts(item.get("output"), f"{path}.output", seen)
            seen.media_in_results += [part for part in output if isinstance(part, SeenMedium)]
            call_id = seen.text(item.get("call_id"), f"{path}.call_id")
            parts = [SeenResult(path=f"{path}.call_id", id=call_id)]
        case "reasoning":
            is_known = isinstance(item.get("id"), str) and bool(item["id"])
            parts = [SeenThinking(path=path, is_signed=is_known)]
        case _:
            parts = [SeenOther(path=path)]
    seen.messages.append(SeenMessage(speaker=speaker, path=path, parts=tuple(parts)))


def _call(item: Mapping[str, Any], path: str, seen: SeenBody) -> SeenCall:
    seen.text(item.get("name"), f"{path}.name")
    is_free = item.get("type") == "custom_tool_call"
    return SeenCall(
        path=f"{path}.call_id",
        id=seen.text(item.get("call_id"), f"{path}.call_id"),
        has_object=is_free or is_object_text(item.get("arguments")),
        arguments_path=f"{path}.arguments",
    )


def _parts(content: object, path: str, seen: SeenBody) -> list[SeenPart]:
    if isinstance(content, str):
        return [SeenText(path=path, text=content)]
    return [_part(part, at, seen) for at, part in seen.objects(content, path)]


def _part(part: Mapping[str, Any], path: str, seen: SeenBody) -> SeenPart:
    match part.get("type"):
        case "input_text" | "output_text":
            text = seen.text(part.get("text"), f"{path}.text")
            return SeenText(path=f"{path}.text", text=text)
        case "input_image":
            sort, data = data_of_address(str(part.get("image_url") or ""))
            return SeenMedium(path=path, sort=sort, data=data)
        case "input_file":
            sort, data = data_of_address(str(part.get("file_data") or ""))
            return SeenMedium(path=path, sort=sort, data=data)
        case _:
            return SeenOther(path=path)
