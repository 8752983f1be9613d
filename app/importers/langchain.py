"""LangChain's messages: as dicts, as `{type, data}`, or as dumps of their constructors.

Source: docs/semantics/importers.md#langchainmessages.
"""

from app.core.blocks import (
    Artifact,
    Block,
    Blocks,
    ResultState,
    ToolCall,
    ToolResult,
    text_block,
)
from app.importers.anthropic_blocks import answer_blocks, content_blocks
from app.importers.gathering import Gathering
from app.importers.json_lines import read_rows
from app.importers.media import at_url, in_message, medium, under_id
from app.importers.openai_chat import chat_part
from app.importers.reading import (
    JsonObject,
    arguments_of,
    object_of,
    objects,
    text_of,
    text_or_none,
)
from app.importers.transcript import Imported, InvalidTranscript

DRIVER = "langchain"

_ROLES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "HumanMessageChunk": "human",
    "AIMessageChunk": "ai",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
    "user": "human",
    "assistant": "ai",
    "developer": "system",
}
"""The types of messages by their other names."""

_PROVIDERS_OWN = frozenset({"thinking", "redacted_thinking"})
_CALLS = frozenset({"tool_use", "tool_call", "input_json_delta", "function_call"})
"""Parts that stand among the calls of the message once more."""


def read(transcript: object, model: str | None) -> Imported:
    """Messages, one a line or in one list.

    Raises:
        InvalidTranscript: It is neither text nor a list.
    """
    gathering = Gathering()
    read_rows(transcript, gathering, lambda row, _: _message(row, gathering, model))
    return gathering.imported()


def _message(row: JsonObject, gathering: Gathering, model: str | None) -> None:
    sort, fields = _fields(row)
    content = fields.get("content")
    match sort:
        case "human":
            gathering.user(_content(content, gathering))
        case "system":
            gathering.system(_content(content, gathering))
        case "ai":
            gathering.assistant(_answer(fields, gathering, model))
        case "tool" | "function":
            state: ResultState = "error" if fields.get("status") == "error" else "success"
            result = ToolResult(
                type="tool_result",
                id=text_or_none(fields.get("tool_call_id")) or "",
                name=text_or_none(fields.get("name")),
                output=_content(content, gathering),
                state=state,
                artifacts=_artifacts(fields.get("artifact")),
            )
            gathering.results([result])
        case _:
            raise InvalidTranscript("a message must have a known type", key="type")


def _artifacts(artifact: object) -> tuple[Artifact, ...]:
    """What a tool has left beside its result, which no model sees."""
    return () if artifact is None else (Artifact(kind=DRIVER, payload=artifact),)


def _fields(row: JsonObject) -> tuple[str, JsonObject]:
    """The type of a message and its fields, whichever way it was written."""
    if row.get("type") == "constructor":
        path = row.get("id")
        name = path[-1] if isinstance(path, list) and path else None
        fields = object_of(row.get("kwargs"), "kwargs")
        sort = name if isinstance(name, str) else text_or_none(fields.get("type"))
    else:
        sort = text_or_none(row.get("type")) or text_or_none(row.get("role"))
        data = row.get("data")
        fields = data if isinstance(data, dict) else row
    return _ROLES.get(sort or "", sort or ""), fields


def _answer(fields: JsonObject, gathering: Gathering, model: str | None) -> Blocks:
    extra = fields.get("additional_kwargs")
    kept = extra if isinstance(extra, dict) else {}
    told = fields.get("response_metadata")
    metadata = told if isinstance(told, dict) else {}
    named = text_or_none(metadata.get("model_name")) or text_or_none(metadata.get("model"))
    said = _answered(fields.get("content"), gathering, named or model)
    calls = [
        ToolCall(
            type="tool_call",
            id=text_or_none(call.get("id")) or "",
            name=text_of(call.get("name"), f"{key}.name"),
            input=arguments_of(call.get("args"), f"{key}.args"),
        )
        for name in ("tool_calls", "invalid_tool_calls")
        for call, key in objects(fields.get(name), name)
    ]
    written = _written_calls(kept)
    if not calls:
        return (*said, *written)
    # The provider's own text of the arguments is exact, the parsed one is not.
    exact = {call.id: call for call in written if call.id}
    return (*said, *(exact.get(call.id, call) for call in calls))


def _written_calls(extra: JsonObject) -> list[ToolCall]:
    calls = []
    for call, key in objects(extra.get("tool_calls"), "additional_kwargs.tool_calls"):
        function = object_of(call.get("function"), f"{key}.function")
        calls.append(
            ToolCall(
                type="tool_call",
                id=text_or_none(call.get("id")) or "",
                name=text_of(function.get("name"), f"{key}.function.name"),
                input=arguments_of(function.get("arguments"), f"{key}.function.arguments"),
            )
        )
    return calls


def _answered(content: object, gathering: Gathering, model: str | None) -> Blocks:
    if isinstance(content, str):
        return (text_block(content),) if content else ()
    blocks: list[Block] = []
    for number, part in enumerate(_parts(content)):
        sort = text_or_none(part.get("type")) if isinstance(part, dict) else None
        if sort in _CALLS:
            continue
        if sort in _PROVIDERS_OWN:
            blocks += answer_blocks([part], f"content.{number}", gathering, model)
        else:
            blocks.append(_part(part, f"content.{number}", gathering))
    return tuple(blocks)


def _content(content: object, gathering: Gathering) -> Blocks:
    if isinstance(content, str):
        return (text_block(content),)
    return tuple(
        _part(part, f"content.{number}", gathering) for number, part in enumerate(_parts(content))
    )


def _parts(content: object) -> list[object]:
    if content is None:
        return []
    if not isinstance(content, list):
        raise InvalidTranscript("content must be text or a list", key="content")
    return content


def _part(part: object, key: str, gathering: Gathering) -> Block:
    if isinstance(part, str):
        return text_block(part)
    given = object_of(part, key)
    match given:
        case {"type": "image" | "document", "source": dict()}:
            return content_blocks([given], key, gathering)[0]
        case {"type": str(sort), "source_type": "base64", "data": str(data)}:
            return medium(in_message(data, text_or_none(given.get("mime_type")) or f"{sort}/*"))
        case {"type": "image" | "audio" | "video" | "file" as sort, "base64": str(data)}:
            return medium(in_message(data, text_or_none(given.get("mime_type")) or f"{sort}/*"))
        case {"type": "image" | "audio" | "video" | "file" as sort, "url": str(url)}:
            return medium(at_url(url, text_or_none(given.get("mime_type")) or f"{sort}/*"))
        case {"type": "image" | "audio" | "video" | "file", "file_id": str(file_id)}:
            return medium(under_id(file_id))
        case {"type": "text" | "image_url" | "input_audio" | "file"}:
            block = chat_part(given, key, gathering)
            assert block is not None
            return block
        case {"type": str(sort)}:
            return gathering.opaque(DRIVER, sort, given)
        case _:
            raise InvalidTranscript("a part must have a type", key=f"{key}.type")
