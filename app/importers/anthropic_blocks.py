"""Content of Anthropic's messages as blocks: of bodies, and of the sessions that Claude Code keeps.

Source: docs/semantics/importers.md#anthropicmessages.
"""

from itertools import groupby

from app.core.blocks import (
    Block,
    Blocks,
    DataSource,
    ProviderOpaque,
    ProviderState,
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


def add_user(blocks: Blocks, gathering: Gathering) -> None:
    """Add a user message: its results as tool messages, what stands between as user messages."""
    if not blocks:
        gathering.user(())
    for is_results, group in groupby(blocks, key=lambda block: isinstance(block, ToolResult)):
        if is_results:
            gathering.results([block for block in group if isinstance(block, ToolResult)])
        else:
            gathering.user(tuple(group))


def content_blocks(content: object, key: str, gathering: Gathering) -> Blocks:
    """The blocks of a user message, a system prompt or a result.

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
                provider_state=_state(block, known, gathering, model),
            )
        case "redacted_thinking":
            state = _state(block, {}, gathering, model)
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


def _state(
    block: JsonObject, known: JsonObject, gathering: Gathering, model: str | None
) -> ProviderState | None:
    data = {
        name: value
        for name, value in block.items()
        if name != "cache_control" and known.get(name) != value
    }
    if not data:
        return None
    if model is None:
        gathering.repair("state_left_out", detail=text_or_none(block.get("type")))
        return None
    return ProviderState(driver=DRIVER, model=model, data=data)


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
                output=_output(block.get("content"), f"{key}.content", gathering),
                state="error" if block.get("is_error") is True else "success",
            )
        case _:
            return _opaque(block, key, gathering)


def _output(content: object, key: str, gathering: Gathering) -> Blocks:
    """What a result says; a result inside it is kept as the provider's own."""
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
        case {"type": "url", "url": str(url)}:
            return at_url(url, any_type)
        case {"type": "file", "file_id": str(file_id)}:
            return under_id(file_id)
        case _:
            return None


def _opaque(block: JsonObject, key: str, gathering: Gathering) -> Block:
    sort = text_of(block.get("type"), f"{key}.type")
    gathering.repair("block_kept_opaque", detail=sort)
    return ProviderOpaque(type="provider_opaque", driver=DRIVER, kind=sort, payload=dict(block))
