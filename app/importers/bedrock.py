"""Bodies of Bedrock's Converse.

Source: docs/semantics/importers.md#bedrockconverse.
"""

from app.core import canonical
from app.core.blocks import (
    Block,
    Blocks,
    Data,
    ProviderOpaque,
    ResultState,
    Thinking,
    ToolCall,
    ToolResult,
    UrlSource,
    text_block,
)
from app.importers.gathering import Gathering
from app.importers.media import in_message, medium
from app.importers.reading import (
    JsonObject,
    arguments_of,
    object_of,
    objects,
    text_of,
    text_or_none,
    whole,
)
from app.importers.tools import add_tool
from app.importers.transcript import Imported, InvalidTranscript

DRIVER = "bedrock"

_OF_BODY = frozenset({"modelId", "model", "messages", "system", "toolConfig"})
_MEDIA = {
    **{form: f"image/{form}" for form in ("png", "jpeg", "gif", "webp")},
    **{form: f"video/{form}" for form in ("mp4", "webm", "mpeg")},
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
}


def read(transcript: object, model: str | None) -> Imported:
    """A body, or its messages alone.

    Raises:
        InvalidTranscript: It is no body of Converse.
    """
    body, path = whole(transcript, "messages")
    gathering = Gathering()
    named = text_or_none(body.get("modelId")) or text_or_none(body.get("model")) or model
    system = list(objects(body.get("system"), "transcript.system"))
    if system:
        gathering.system(_flat(system, gathering))
    for message, key in objects(body["messages"], path):
        _message(message, key, gathering, named)
    gathering.settings(body, _OF_BODY)
    if body.get("toolConfig") is not None:
        _tools(object_of(body["toolConfig"], "transcript.toolConfig"), gathering)
    return gathering.imported()


def _message(message: JsonObject, key: str, gathering: Gathering, model: str | None) -> None:
    gathering.left_out(message, {"role", "content"})
    content = list(objects(message.get("content"), f"{key}.content"))
    kept = [(block, path) for block, path in content if not _is_mark(block, gathering)]
    match message.get("role"):
        case "user":
            gathering.given(tuple(_given(block, path, gathering) for block, path in kept))
        case "assistant":
            gathering.assistant(
                tuple(_answer(block, path, gathering, model) for block, path in kept)
            )
        case "system":
            gathering.system(_flat(kept, gathering))
        case _:
            raise InvalidTranscript("a message must have a known role", key=f"{key}.role")


def _is_mark(block: JsonObject, gathering: Gathering) -> bool:
    """Whether a block only marks what to cache, which is set anew."""
    if "cachePoint" not in block:
        return False
    gathering.repair("field_left_out", detail="cachePoint")
    return True


def _flat(content: list[tuple[JsonObject, str]], gathering: Gathering) -> Blocks:
    """Blocks of a system prompt or a result; a result in it is kept as the provider's own."""
    return tuple(
        _opaque(block, path, gathering) if "toolResult" in block else _given(block, path, gathering)
        for block, path in content
        if not _is_mark(block, gathering)
    )


def _given(block: JsonObject, key: str, gathering: Gathering) -> Block:
    if isinstance(block.get("text"), str):
        return text_block(text_of(block["text"], key))
    if "json" in block:
        return text_block(canonical.encode(block["json"]).decode())
    if "toolResult" in block:
        given = object_of(block["toolResult"], f"{key}.toolResult")
        gathering.left_out(given, {"toolUseId", "content", "status"})
        path = f"{key}.toolResult.content"
        state: ResultState = "error" if given.get("status") == "error" else "success"
        return ToolResult(
            type="tool_result",
            id=text_or_none(given.get("toolUseId")) or "",
            output=_flat(list(objects(given.get("content"), path)), gathering),
            state=state,
        )
    return _medium(block, gathering) or _opaque(block, key, gathering)


def _answer(block: JsonObject, key: str, gathering: Gathering, model: str | None) -> Block:
    if "toolUse" in block:
        given = object_of(block["toolUse"], f"{key}.toolUse")
        gathering.left_out(given, {"toolUseId", "name", "input"})
        return ToolCall(
            type="tool_call",
            id=text_or_none(given.get("toolUseId")) or "",
            name=text_of(given.get("name"), f"{key}.toolUse.name"),
            input=arguments_of(given.get("input"), f"{key}.toolUse.input"),
        )
    if "reasoningContent" in block:
        given = object_of(block["reasoningContent"], f"{key}.reasoningContent")
        return _thinking(given, gathering, model)
    if isinstance(block.get("text"), str):
        return text_block(text_of(block["text"], key))
    return _medium(block, gathering) or _opaque(block, key, gathering)


def _thinking(given: JsonObject, gathering: Gathering, model: str | None) -> Thinking:
    thought = given.get("reasoningText")
    text = text_or_none(thought.get("text")) if isinstance(thought, dict) else None
    data: dict[str, object] = {}
    if isinstance(thought, dict):
        data |= {name: value for name, value in thought.items() if name != "text"}
    if "redactedContent" in given:
        data["redactedContent"] = given["redactedContent"]
    state = gathering.state(DRIVER, model, data, "reasoningContent")
    return Thinking(type="thinking", thinking=text or "", provider_state=state)


def _medium(block: JsonObject, gathering: Gathering) -> Data | None:
    for sort in ("image", "document", "video", "audio"):
        given = block.get(sort)
        source = given.get("source") if isinstance(given, dict) else None
        if not isinstance(given, dict) or not isinstance(source, dict):
            continue
        gathering.left_out(given, {"format", "name", "source"})
        form = text_or_none(given.get("format")) or ""
        media_type = _MEDIA.get(form, f"{sort}/{form or '*'}")
        name, data = text_or_none(given.get("name")), source.get("bytes")
        if isinstance(data, str):
            return medium(in_message(data, media_type), name)
        place = source.get("s3Location")
        uri = place.get("uri") if isinstance(place, dict) else None
        if isinstance(uri, str):
            return medium(UrlSource(source_type="url", url=uri, media_type=media_type), name)
    return None


def _opaque(block: JsonObject, key: str, gathering: Gathering) -> ProviderOpaque:
    kind = next(iter(block), None)
    if kind is None:
        raise InvalidTranscript("a block must not be empty", key=key)
    return gathering.opaque(DRIVER, kind, block)


def _tools(config: JsonObject, gathering: Gathering) -> None:
    for name in config:
        if name != "tools":
            gathering.about_all("setting_left_out", f"toolConfig.{name}")
    for tool, key in objects(config.get("tools"), "transcript.toolConfig.tools"):
        if "toolSpec" not in tool:
            gathering.about_all("tool_left_out", next(iter(tool), None))
            continue
        spec = object_of(tool["toolSpec"], f"{key}.toolSpec")
        schema = spec.get("inputSchema")
        parameters = schema.get("json") if isinstance(schema, dict) else None
        add_tool({**spec, "inputSchema": parameters}, f"{key}.toolSpec", gathering, "inputSchema")
