"""Bodies of APIs with turns of two speakers as rules look at them.

Source: docs/semantics/lint.md.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

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
)

ReadPart: TypeAlias = Callable[[Mapping[str, Any], str, SeenBody], SeenPart]
_IMAGE_FORMATS = "image/"


def read_anthropic(seen: SeenBody) -> None:
    """Read messages, system and tools of Anthropic's."""
    _read_system(seen, "system", "text")
    _read_turns(seen, "messages", "content", {"user": "user", "assistant": "assistant"}, _anthropic)
    for path, tool in seen.objects(seen.body.get("tools") or [], "tools"):
        if "input_schema" in tool or "type" not in tool:
            seen.tool(tool, path, tool.get("input_schema"), "input_schema")


def read_bedrock(seen: SeenBody) -> None:
    """Read messages, system and tools of Bedrock's."""
    _read_system(seen, "system", "text")
    _read_turns(seen, "messages", "content", {"user": "user", "assistant": "assistant"}, _bedrock)
    config = seen.body.get("toolConfig")
    if config is None:
        return
    tools = seen.mapping(config, "toolConfig").get("tools") or []
    for path, tool in seen.objects(tools, "toolConfig.tools"):
        if "toolSpec" in tool:
            spec = seen.mapping(tool["toolSpec"], f"{path}.toolSpec")
            schema = seen.mapping(spec.get("inputSchema"), f"{path}.toolSpec.inputSchema")
            seen.tool(spec, f"{path}.toolSpec", schema.get("json"), "inputSchema.json")


def read_gemini(seen: SeenBody) -> None:
    """Read contents, instruction and tools of Gemini's."""
    instruction = seen.body.get("systemInstruction")
    if isinstance(instruction, Mapping):
        for path, part in seen.objects(instruction.get("parts", []), "systemInstruction.parts"):
            text = seen.text(part.get("text"), f"{path}.text")
            seen.system.append(SeenText(path=f"{path}.text", text=text))
    _read_turns(seen, "contents", "parts", {"user": "user", "model": "assistant"}, _gemini)
    for path, tool in seen.objects(seen.body.get("tools") or [], "tools"):
        declared = tool.get("functionDeclarations") or []
        for at, function in seen.objects(declared, f"{path}.functionDeclarations"):
            name = "parameters" if "parameters" in function else "parametersJsonSchema"
            seen.tool(function, at, function.get(name), name)


def _read_system(seen: SeenBody, name: str, key: str) -> None:
    system = seen.body.get(name)
    if isinstance(system, str):
        seen.system.append(SeenText(path=name, text=system))
    elif system is not None:
        for path, part in seen.objects(system, name):
            if key in part:
                text = seen.text(part[key], f"{path}.{key}")
                seen.system.append(SeenText(path=f"{path}.{key}", text=text))


def _read_turns(
    seen: SeenBody, name: str, inside: str, speakers: Mapping[str, Speaker], read: ReadPart
) -> None:
    for path, message in seen.objects(seen.body.get(name, []), name):
        role = message.get("role")
        speaker = speakers.get(role) if isinstance(role, str) else None
        if speaker is None:
            seen.log.add(
                "system_in_conversation" if role == "system" else "unknown_role",
                f"{path}.role",
                f"{role!r} is no role here",
            )
            continue
        parts = tuple(_parts(message.get(inside), f"{path}.{inside}", seen, read))
        seen.messages.append(SeenMessage(speaker=speaker, path=path, parts=parts))


def _parts(content: object, path: str, seen: SeenBody, read: ReadPart) -> Iterator[SeenPart]:
    if isinstance(content, str):
        yield SeenText(path=path, text=content)
        return
    for at, part in seen.objects(content, path):
        if "cachePoint" not in part:
            yield read(part, at, seen)


def _anthropic(part: Mapping[str, Any], path: str, seen: SeenBody) -> SeenPart:
    match part.get("type"):
        case "text":
            return SeenText(path=f"{path}.text", text=seen.text(part.get("text"), f"{path}.text"))
        case "tool_use":
            seen.text(part.get("name"), f"{path}.name")
            call_id = seen.text(part.get("id"), f"{path}.id")
            is_object = isinstance(part.get("input"), Mapping)
            return SeenCall(
                path=f"{path}.id",
                id=call_id,
                has_object=is_object,
                arguments_path=f"{path}.input",
            )
        case "tool_result":
            call_id = seen.text(part.get("tool_use_id"), f"{path}.tool_use_id")
            _inside(part.get("content"), f"{path}.content", seen, _anthropic)
            return SeenResult(path=f"{path}.tool_use_id", id=call_id)
        case "image" | "document" as sort:
            source = seen.mapping(part.get("source"), f"{path}.source")
            known = source.get("media_type") if sort == "image" else None
            data = source.get("data") if source.get("type") == "base64" else None
            return SeenMedium(path=path, sort=_text(known), data=_text(data))
        case "thinking":
            return SeenThinking(path=path, is_signed=bool(part.get("signature")))
        case str():
            return SeenOther(path=path)
        case _:
            seen.log.add("invalid_shape", f"{path}.type", "a block must have a type")
            return SeenOther(path=path)


def _bedrock(part: Mapping[str, Any], path: str, seen: SeenBody) -> SeenPart:
    if "text" in part:
        return SeenText(path=f"{path}.text", text=seen.text(part["text"], f"{path}.text"))
    if "toolUse" in part:
        use = seen.mapping(part["toolUse"], f"{path}.toolUse")
        call_id = seen.text(use.get("toolUseId"), f"{path}.toolUse.toolUseId")
        seen.text(use.get("name"), f"{path}.toolUse.name")
        is_object = isinstance(use.get("input"), Mapping)
        return SeenCall(
            path=f"{path}.toolUse.toolUseId",
            id=call_id,
            has_object=is_object,
            arguments_path=f"{path}.toolUse.input",
        )
    if "toolResult" in part:
        result = seen.mapping(part["toolResult"], f"{path}.toolResult")
        call_id = seen.text(result.get("toolUseId"), f"{path}.toolResult.toolUseId")
        _inside(result.get("content"), f"{path}.toolResult.content", seen, _bedrock)
        return SeenResult(path=f"{path}.toolResult.toolUseId", id=call_id)
    if "image" in part:
        image = seen.mapping(part["image"], f"{path}.image")
        source = seen.mapping(image.get("source"), f"{path}.image.source")
        sort = f"{_IMAGE_FORMATS}{image.get('format')}"
        return SeenMedium(path=path, sort=sort, data=_text(source.get("bytes")))
    if "document" in part:
        return SeenMedium(path=path, sort=None)
    if "reasoningContent" in part:
        thought = seen.mapping(part["reasoningContent"], f"{path}.reasoningContent")
        said = thought.get("reasoningText")
        is_signed = "redactedContent" in thought or (
            isinstance(said, Mapping) and bool(said.get("signature"))
        )
        return SeenThinking(path=path, is_signed=is_signed)
    return SeenOther(path=path)


def _gemini(part: Mapping[str, Any], path: str, seen: SeenBody) -> SeenPart:
    if "functionCall" in part:
        call = seen.mapping(part["functionCall"], f"{path}.functionCall")
        name = seen.text(call.get("name"), f"{path}.functionCall.name")
        return SeenCall(
            path=f"{path}.functionCall",
            # Without ids calls and results are told apart by their names and order.
            id=_text(call.get("id")) or name,
            has_object=isinstance(call.get("args", {}), Mapping),
            arguments_path=f"{path}.functionCall.args",
            is_signed=bool(part.get("thoughtSignature")),
        )
    if "functionResponse" in part:
        response = seen.mapping(part["functionResponse"], f"{path}.functionResponse")
        name = seen.text(response.get("name"), f"{path}.functionResponse.name")
        seen.mapping(response.get("response", {}), f"{path}.functionResponse.response")
        return SeenResult(path=f"{path}.functionResponse", id=_text(response.get("id")) or name)
    if "text" in part:
        return SeenText(path=f"{path}.text", text=seen.text(part["text"], f"{path}.text"))
    if "inlineData" in part:
        data = seen.mapping(part["inlineData"], f"{path}.inlineData")
        return SeenMedium(path=path, sort=_text(data.get("mimeType")), data=_text(data.get("data")))
    if "fileData" in part:
        return SeenMedium(path=path, sort=None)
    return SeenOther(path=path)


def _inside(content: object, path: str, seen: SeenBody, read: ReadPart) -> None:
    """Look into a result: its texts are not empty, and its media count."""
    if content is None:
        return
    for part in _parts(content, path, seen, read):
        if isinstance(part, SeenMedium):
            seen.media_in_results.append(part)
        elif isinstance(part, SeenText) and not part.text.strip():
            seen.log.add("empty_text", part.path, "a text must not be blank")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
