"""Items of OpenAI's Responses: of bodies, and of the rollouts that Codex keeps.

Source: docs/semantics/importers.md#openairesponses.
"""

from collections.abc import Mapping

from app.core import canonical
from app.core.blocks import (
    Block,
    Blocks,
    ResultState,
    Thinking,
    ToolCall,
    ToolResult,
    text_block,
)
from app.importers.gathering import Gathering
from app.importers.media import ANY_IMAGE, PDF_TYPE, at_url, in_message, medium, under_id
from app.importers.reading import (
    JsonObject,
    arguments_of,
    object_of,
    objects,
    text_of,
    text_or_none,
)
from app.importers.transcript import InvalidTranscript

DRIVER = "openai"

LOCAL_SHELL = "local_shell"
"""The name of the calls of a tool that has none of its own."""

_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_OF_CALL = frozenset({"type", "call_id", "id", "name", "arguments", "input", "action", "status"})
_TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})


def add_item(item: JsonObject, key: str, gathering: Gathering, model: str | None) -> None:
    """Add an item: to the assistant message that it goes on with, or as a message.

    Raises:
        InvalidTranscript: It has no known shape.
    """
    sort = text_or_none(item.get("type", "message" if "role" in item else None))
    match sort:
        case "message":
            _message(item, key, gathering)
        case "reasoning":
            gathering.extend((_reasoning(item, key, gathering, model),))
        case "function_call" | "custom_tool_call" | "local_shell_call":
            gathering.extend((_call(item, key, gathering, model),))
        case str() if sort in _OUTPUTS:
            gathering.results([_result(item, key, gathering)])
        case str():
            gathering.extend((gathering.opaque(DRIVER, sort, item),))
        case _:
            raise InvalidTranscript("an item must have a type", key=f"{key}.type")


def _message(item: JsonObject, key: str, gathering: Gathering) -> None:
    content, path = item.get("content"), f"{key}.content"
    gathering.left_out(item, {"type", "role", "content", "status", "id"})
    match item.get("role"):
        case "system" | "developer" as role:
            gathering.system(_content(content, path, gathering), role)
        case "user":
            gathering.user(_content(content, path, gathering))
        case "assistant":
            gathering.extend(_content(content, path, gathering))
        case _:
            raise InvalidTranscript("a message must have a known role", key=f"{key}.role")


def _reasoning(item: JsonObject, key: str, gathering: Gathering, model: str | None) -> Thinking:
    summary = [text for text, _ in _texts(item.get("summary"), f"{key}.summary")]
    thoughts = [text for text, _ in _texts(item.get("content"), f"{key}.content")]
    text = "\n\n".join(summary or thoughts)
    plain = [{"type": "summary_text", "text": text}] if text else []
    known = {"type": "reasoning", "summary": plain}
    data = _data(item, known)
    return Thinking(
        type="thinking",
        thinking=text,
        provider_state=gathering.state(DRIVER, model, data, "reasoning"),
    )


def _texts(value: object, key: str) -> list[tuple[str, str]]:
    return [(text_of(part.get("text"), f"{path}.text"), path) for part, path in objects(value, key)]


def _call(item: JsonObject, key: str, gathering: Gathering, model: str | None) -> ToolCall:
    sort = item.get("type")
    gathering.left_out(item, _OF_CALL)
    call_id = text_or_none(item.get("call_id")) or text_or_none(item.get("id")) or ""
    state = None
    if sort == "function_call":
        name = text_of(item.get("name"), f"{key}.name")
        text = arguments_of(item.get("arguments"), f"{key}.arguments")
    elif sort == "custom_tool_call":
        name = text_of(item.get("name"), f"{key}.name")
        text = text_of(item.get("input"), f"{key}.input")
        state = gathering.state(DRIVER, model, {"type": sort}, "custom_tool_call")
    else:
        name = LOCAL_SHELL
        action = object_of(item.get("action"), f"{key}.action")
        text = canonical.encode(action).decode()
        state = gathering.state(DRIVER, model, {"type": sort}, "local_shell_call")
    return ToolCall(type="tool_call", id=call_id, name=name, input=text, provider_state=state)


def _result(item: JsonObject, key: str, gathering: Gathering) -> ToolResult:
    gathering.left_out(item, {"type", "call_id", "id", "output", "status"})
    output = item.get("output")
    state: ResultState = "success"
    if isinstance(output, Mapping):
        # Codex has kept outputs as an object with their success.
        state = "error" if output.get("success") is False else "success"
        output = output.get("content")
    return ToolResult(
        type="tool_result",
        id=text_or_none(item.get("call_id")) or text_or_none(item.get("id")) or "",
        output=_content(output, f"{key}.output", gathering),
        state=state,
    )


def _content(content: object, key: str, gathering: Gathering) -> Blocks:
    if isinstance(content, str):
        return (text_block(content),)
    return tuple(_part(part, path, gathering) for part, path in objects(content, key))


def _part(part: JsonObject, key: str, gathering: Gathering) -> Block:
    if text_or_none(part.get("type")) in _TEXTS:
        gathering.left_out(part, {"type", "text"})
        return text_block(text_of(part.get("text"), f"{key}.text"))
    match part:
        case {"type": "refusal", "refusal": str(text)}:
            return text_block(text)
        case {"type": "input_image", "image_url": str(url)}:
            gathering.left_out(part, {"type", "image_url"})
            return medium(at_url(url, ANY_IMAGE))
        case {"type": "input_image" | "input_file", "file_id": str(file_id)}:
            gathering.left_out(part, {"type", "file_id"})
            return medium(under_id(file_id))
        case {"type": "input_file", "file_url": str(url)}:
            return medium(at_url(url, PDF_TYPE), text_or_none(part.get("filename")))
        case {"type": "input_file", "file_data": str(data)}:
            has_head = data.startswith("data:")
            source = at_url(data, PDF_TYPE) if has_head else in_message(data, PDF_TYPE)
            return medium(source, text_or_none(part.get("filename")))
        case {"type": str(kind)}:
            return gathering.opaque(DRIVER, kind, part)
        case _:
            raise InvalidTranscript("a part must have a type", key=f"{key}.type")


def _data(item: JsonObject, known: JsonObject) -> JsonObject:
    """What the text alone does not give again."""
    return {
        name: value
        for name, value in item.items()
        if value is not None and known.get(name) != value
    }
