"""Content of Anthropic's messages as blocks: of bodies, and of the sessions that Claude Code keeps.

Source: docs/semantics/importers.md#anthropicmessages.
"""

from base64 import b64encode

from app.core.blocks import (
    Block,
    Blocks,
    DataSource,
    Text,
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

DRIVER = "anthropic"


def content_blocks(content: object, key: str, gathering: Gathering) -> Blocks:
    """The blocks of a user message, results among them.

    Raises:
        InvalidTranscript: It has no known shape.
    """
    if isinstance(content, str):
        return (text_block(content),)
    return tuple(_block(block, path, gathering) for block, path in objects(content, key))


def answer_blocks(content: object, key: str, gathering: Gathering, model: str | None) -> Blocks:
    """The blocks of an assistant message; provider state is kept for the model.

    Raises:
        InvalidTranscript: It has no known shape.
    """
    if isinstance(content, str):
        return (text_block(content),) if content else ()
    return tuple(
        _answer_block(block, path, gathering, model) for block, path in objects(content, key)
    )


def _answer_block(block: JsonObject, key: str, gathering: Gathering, model: str | None) -> Block:
    match block.get("type"):
        case "thinking":
            text = text_of(block.get("thinking"), f"{key}.thinking")
            known = {"type": "thinking", "thinking": text}
            return Thinking(
                type="thinking",
                thinking=text,
                provider_state=gathering.state(DRIVER, model, _data(block, known), "thinking"),
            )
        case "redacted_thinking":
            state = gathering.state(DRIVER, model, _data(block, {}), "redacted_thinking")
            return Thinking(type="thinking", thinking="", provider_state=state)
        case "tool_use":
            gathering.left_out(block, {"type", "id", "name", "input", "caller"})
            return ToolCall(
                type="tool_call",
                id=text_or_none(block.get("id")) or "",
                name=text_of(block.get("name"), f"{key}.name"),
                input=arguments_of(block.get("input"), f"{key}.input"),
            )
        case "text":
            gathering.left_out(block, {"type", "text"})
            return text_block(text_of(block.get("text"), f"{key}.text"))
        case _:
            return _opaque(block, key, gathering)


def _data(block: JsonObject, known: JsonObject) -> JsonObject:
    """What the text alone does not give again; marks of what to cache are set anew."""
    return {
        name: value
        for name, value in block.items()
        if name != "cache_control" and known.get(name) != value
    }


def _block(block: JsonObject, key: str, gathering: Gathering) -> Block:
    match block.get("type"):
        case "text":
            gathering.left_out(block, {"type", "text"})
            return Text(type="text", text=text_of(block.get("text"), f"{key}.text"))
        case "image" | "document" as sort:
            source = object_of(block.get("source"), f"{key}.source")
            found = _source(source, ANY_IMAGE if sort == "image" else PDF_TYPE)
            if found is None:
                return _opaque(block, key, gathering)
            gathering.left_out(block, {"type", "source", "title"})
            return medium(found, text_or_none(block.get("title")))
        case "tool_result":
            gathering.left_out(block, {"type", "tool_use_id", "content", "is_error"})
            return ToolResult(
                type="tool_result",
                id=text_or_none(block.get("tool_use_id")) or "",
                output=flat_blocks(block.get("content"), f"{key}.content", gathering),
                state="error" if block.get("is_error") is True else "success",
            )
        case _:
            return _opaque(block, key, gathering)


def flat_blocks(content: object, key: str, gathering: Gathering) -> Blocks:
    """The blocks of a system prompt or a result; a result in it is kept as the provider's own.

    Raises:
        InvalidTranscript: It has no known shape.
    """
    if isinstance(content, str):
        return (text_block(content),)
    return tuple(
        _opaque(block, path, gathering)
        if block.get("type") == "tool_result"
        else _block(block, path, gathering)
        for block, path in objects(content, key)
    )


def _source(source: JsonObject, any_type: str) -> DataSource | None:
    match source:
        case {"type": "base64", "data": str(data), "media_type": str(sort)}:
            return in_message(data, sort)
        case {"type": "text", "data": str(text)}:
            return in_message(b64encode(text.encode()).decode(), "text/plain")
        case {"type": "url", "url": str(url)}:
            return at_url(url, any_type)
        case {"type": "file", "file_id": str(file_id)}:
            return under_id(file_id)
        case _:
            return None


def _opaque(block: JsonObject, key: str, gathering: Gathering) -> Block:
    sort = text_of(block.get("type"), f"{key}.type")
    return gathering.opaque(DRIVER, sort, block)
