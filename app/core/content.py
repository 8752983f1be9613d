"""Content arrays as canonical bytes, and back.

Known fields come in a fixed order, the tag first; defaults are written
(`state`, `name: null`), absent provider state and empty artifacts are not.
Free JSON keeps the order received.

Source: docs/semantics/content.md#canonical-bytes.
"""

from typing import cast

from app.core import canonical
from app.core.blocks import (
    Artifact,
    Audience,
    Base64Source,
    Block,
    Blocks,
    Data,
    DataSource,
    FileIdSource,
    ProviderOpaque,
    ProviderState,
    Reader,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UrlSource,
)

JsonObject = dict[str, object]


def encode_content(blocks: Blocks) -> bytes:
    """The canonical bytes of a content array."""
    return canonical.encode([block_json(block) for block in blocks])


def decode_content(content: bytes) -> Blocks:
    """The blocks of bytes that `encode_content` made."""
    return _blocks(canonical.decode(content))


def block_json(block: Block) -> JsonObject:
    """A block as JSON, its fields in serialised order."""
    match block:
        case Text():
            return {
                "type": "text",
                "text": block.text,
                **_state_json(block.provider_state),
                **_audience_json(block.audience),
            }
        case Thinking():
            return {
                "type": "thinking",
                "thinking": block.thinking,
                **_state_json(block.provider_state),
            }
        case Data():
            return {
                "type": "data",
                "source": _source_json(block.source),
                "name": block.name,
                **_audience_json(block.audience),
            }
        case ToolCall():
            return _call_json(block)
        case ToolResult():
            return _result_json(block)
        case ProviderOpaque():
            return {
                "type": "provider_opaque",
                "driver": block.driver,
                "kind": block.kind,
                "payload": block.payload,
            }


def state_json(state: ProviderState) -> JsonObject:
    """A provider state as JSON."""
    return {"driver": state.driver, "model": state.model, "data": state.data}


def artifacts_json(artifacts: tuple[Artifact, ...]) -> list[JsonObject]:
    """Artifacts as JSON."""
    return [{"kind": artifact.kind, "payload": artifact.payload} for artifact in artifacts]


def _state_json(state: ProviderState | None) -> JsonObject:
    return {} if state is None else {"provider_state": state_json(state)}


def _audience_json(audience: Audience) -> JsonObject:
    return {} if audience is None else {"audience": list(audience)}


def _source_json(source: DataSource) -> JsonObject:
    match source:
        case UrlSource():
            return {"source_type": "url", "url": source.url, "media_type": source.media_type}
        case Base64Source():
            return {"source_type": "base64", "data": source.data, "media_type": source.media_type}
        case FileIdSource():
            return {"source_type": "file_id", "id": source.id}


def _call_json(call: ToolCall) -> JsonObject:
    return {
        "type": "tool_call",
        "id": call.id,
        "name": call.name,
        "input": call.input,
        "state": call.state,
        **_state_json(call.provider_state),
    }


def _result_json(result: ToolResult) -> JsonObject:
    body: JsonObject = {
        "type": "tool_result",
        "id": result.id,
        "name": result.name,
        "output": [block_json(block) for block in result.output],
        "state": result.state,
    }
    if result.artifacts:
        body["artifacts"] = artifacts_json(result.artifacts)
    return body


def _blocks(value: object) -> Blocks:
    # Only bytes made by `encode_content` come here, so their shape is known.
    return tuple(_block(entry) for entry in cast("list[JsonObject]", value))


def _block(entry: JsonObject) -> Block:
    fields = dict(entry)
    if "provider_state" in fields:
        fields["provider_state"] = ProviderState(**cast("dict[str, str]", fields["provider_state"]))
    if "audience" in fields:
        fields["audience"] = tuple(cast("list[Reader]", fields["audience"]))
    match fields["type"]:
        case "data":
            fields["source"] = _source(cast("dict[str, str]", fields["source"]))
        case "tool_result":
            fields["output"] = _blocks(fields["output"])
            fields["artifacts"] = tuple(
                Artifact(**cast("dict[str, str]", artifact))
                for artifact in cast("list[JsonObject]", fields.get("artifacts", []))
            )
    return _BLOCK_TYPES[cast("str", fields["type"])](**fields)  # type: ignore[arg-type]


def _source(fields: dict[str, str]) -> DataSource:
    return _SOURCE_TYPES[fields["source_type"]](**fields)  # type: ignore[arg-type]


_BLOCK_TYPES: dict[str, type[Block]] = {
    "text": Text,
    "thinking": Thinking,
    "data": Data,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "provider_opaque": ProviderOpaque,
}
_SOURCE_TYPES: dict[str, type[DataSource]] = {
    "url": UrlSource,
    "base64": Base64Source,
    "file_id": FileIdSource,
}
