"""Our neutral request as the body of an OpenAI-compatible chat completion.

Only what a summary request can hold is mapped. Reasoning and what belongs to
one provider are left out, and a line stands for media that a chat message
cannot carry.

Source: docs/semantics/compaction.md#the-services-own-summarizer.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias, cast

from app.compaction.flat import media_note
from app.core import canonical
from app.core.blocks import (
    Base64Source,
    Blocks,
    Data,
    FileIdSource,
    Text,
    ToolCall,
    ToolResult,
)
from app.core.content import decode_content

LimitField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
"""The output limit has two names: most servers know the first one alone, and newer models of
OpenAI refuse it."""

_Message: TypeAlias = dict[str, object]


def chat_request(request: bytes, model: str | None, limit_field: LimitField) -> bytes:
    """The body for a neutral request; `model` takes the place of the request's own."""
    # Only summary requests that this service made come here, so their shape is known.
    neutral = cast("Mapping[str, Any]", canonical.decode(request))
    body: dict[str, object] = {
        "model": model or neutral["model"],
        "messages": [
            message
            for element in neutral["messages"]
            for message in _messages(element["role"], _blocks(element))
        ],
        limit_field: neutral["max_output_tokens"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    tools = [{"type": "function", "function": tool} for tool in neutral["tools"]]
    if tools:
        body["tools"] = tools
    return canonical.encode(body)


def _blocks(element: Mapping[str, Any]) -> Blocks:
    return decode_content(canonical.encode(element["content"]))


def _messages(role: str, blocks: Blocks) -> list[_Message]:
    match role:
        case "assistant":
            return _assistant(blocks)
        case "tool":
            return [
                {"role": "tool", "tool_call_id": block.id, "content": _text(block.output)}
                for block in blocks
                if isinstance(block, ToolResult)
            ]
        case _:
            return [{"role": role, "content": _content(blocks)}]


def _assistant(blocks: Blocks) -> list[_Message]:
    text = _text(blocks)
    calls = [_call(block) for block in blocks if isinstance(block, ToolCall)]
    if calls:
        return [{"role": "assistant", "content": text or None, "tool_calls": calls}]
    # A message of reasoning alone has nothing left to say.
    return [{"role": "assistant", "content": text}] if text else []


def _call(call: ToolCall) -> _Message:
    function = {"name": call.name, "arguments": call.input}
    return {"id": call.id, "type": "function", "function": function}


def _content(blocks: Blocks) -> str | list[_Message]:
    """Text where that is all there is: not every server takes parts."""
    if any(_image_url(block) for block in blocks if isinstance(block, Data)):
        return list(_parts(blocks))
    return _text(blocks)


def _parts(blocks: Blocks) -> Iterator[_Message]:
    for block in blocks:
        url = _image_url(block) if isinstance(block, Data) else None
        if url is not None:
            yield {"type": "image_url", "image_url": {"url": url}}
        else:
            yield {"type": "text", "text": _text((block,))}


def _image_url(data: Data) -> str | None:
    """The address of an image; None for other media and for files that one provider holds."""
    source = data.source
    if isinstance(source, FileIdSource) or not source.media_type.startswith("image/"):
        return None
    if isinstance(source, Base64Source):
        return f"data:{source.media_type};base64,{source.data}"
    return source.url


def _text(blocks: Blocks) -> str:
    """Text and notes on media, a blank line between them."""
    return "\n\n".join(
        block.text if isinstance(block, Text) else media_note(block)
        for block in blocks
        if isinstance(block, Text | Data)
    )
