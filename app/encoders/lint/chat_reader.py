"""Bodies of the chat family as rules look at them.

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
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def read(seen: SeenBody) -> None:
    """Read messages and tools."""
    for path, message in seen.objects(seen.body.get("messages", []), "messages"):
        _message(message, path, seen)
    for path, tool in seen.objects(seen.body.get("tools") or [], "tools"):
        if tool.get("type", "function") == "function":
            key = f"{path}.function"
            function = seen.mapping(tool.get("function"), key)
            seen.tool(function, key, function.get("parameters"), "parameters")


def _message(message: Mapping[str, Any], path: str, seen: SeenBody) -> None:
    role = message.get("role")
    parts = _parts(message.get("content"), f"{path}.content", seen)
    if role == "tool":
        call_id = seen.text(message.get("tool_call_id"), f"{path}.tool_call_id")
        seen.media_in_results += [part for part in parts if isinstance(part, SeenMedium)]
        result = SeenResult(path=f"{path}.tool_call_id", id=call_id)
        seen.messages.append(SeenMessage(speaker="user", path=path, parts=(result,)))
        return
    speaker = _SPEAKERS.get(role) if isinstance(role, str) else None
    if speaker is None:
        seen.log.add("unknown_role", f"{path}.role", f"{role!r} is no role here")
        return
    calls = [
        _call(call, at, seen)
        for at, call in seen.objects(message.get("tool_calls") or [], f"{path}.tool_calls")
    ]
    seen.messages.append(SeenMessage(speaker=speaker, path=path, parts=(*parts, *calls)))


def _call(call: Mapping[str, Any], path: str, seen: SeenBody) -> SeenCall:
    function = seen.mapping(call.get("function"), f"{path}.function")
    seen.text(function.get("name"), f"{path}.function.name")
    arguments = function.get("arguments")
    is_object = is_object_text(arguments) or isinstance(arguments, Mapping)
    return SeenCall(
        path=f"{path}.id",
        id=seen.text(call.get("id"), f"{path}.id"),
        has_object=is_object,
        arguments_path=f"{path}.function.arguments",
    )


def _parts(content: object, path: str, seen: SeenBody) -> list[SeenPart]:
    if content is None:
        return []
    if isinstance(content, str):
        return [SeenText(path=path, text=content)]
    return [_part(part, at, seen) for at, part in seen.objects(content, path)]


def _part(part: Mapping[str, Any], path: str, seen: SeenBody) -> SeenPart:
    match part.get("type"):
        case "text":
            text = seen.text(part.get("text"), f"{path}.text")
            return SeenText(path=f"{path}.text", text=text)
        case "image_url":
            image = part.get("image_url")
            url = image.get("url") if isinstance(image, Mapping) else image
            sort, data = data_of_address(seen.text(url, f"{path}.image_url"))
            return SeenMedium(path=path, sort=sort, data=data)
        case "input_audio":
            sound = part.get("input_audio")
            given = sound if isinstance(sound, Mapping) else {}
            return SeenMedium(path=path, sort=_AUDIO.get(str(given.get("format"))))
        case "thinking":
            # Mistral signs nothing.
            return SeenThinking(path=path, is_signed=True)
        case _:
            return SeenOther(path=path)
