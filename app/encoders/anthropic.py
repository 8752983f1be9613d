"""Anthropic's Messages: turns of content blocks, a system field, signed thinking.

Source: docs/semantics/encoders.md#anthropicmessages.
"""

import re
from collections.abc import Mapping
from typing import cast

from app.core.blocks import Data, FileIdSource, Thinking, ToolResult
from app.core.canonical import Json
from app.encoders.anthropic_fields import AnthropicFields
from app.encoders.call_ids import CallIdRule
from app.encoders.documents import decoded_text
from app.encoders.encoding import Encoded, EncodingOptions
from app.encoders.media import PDF_TYPE, address, is_image, media_type, payload
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest
from app.encoders.turns import (
    FAULTS,
    DocumentNames,
    Part,
    Place,
    Turn,
    TurnDialect,
    TurnWriter,
    breakpoints,
)

DRIVER = "anthropic"
"""Of the provider state that is replayed."""

CALL_IDS = CallIdRule(
    pattern=re.compile(r"[a-zA-Z0-9_-]{1,64}"), length=30, prefix="toolu_", reuse="renamed"
)

BREAKPOINT: Mapping[str, Json] = {"type": "ephemeral"}
_UNMARKED = frozenset({"thinking", "redacted_thinking"})
"""Parts that can carry no breakpoint."""


def encode(request: NeutralRequest, options: EncodingOptions) -> Encoded:
    """The body of a message; equal requests give equal bodies."""
    log = RepairLog()
    writer = TurnWriter(dialect=_DIALECT, options=options, model=request.model, log=log)
    system = writer.system(request)
    writer.write(request)
    elements = [_element(turn) for turn in writer.turns]
    fields = AnthropicFields(request=request, turns=writer.turns, log=log).all()
    if system:
        fields["system"] = [*system]
    cached: dict[int, Mapping[str, Json]] = {}
    if options.cache == "auto":
        _mark_front(fields)
        cached = {at: _marked(elements[at]) for at in breakpoints(writer.turns)}
    return Encoded(
        path="messages",
        elements=tuple(elements),
        fields=fields,
        cached=cached,
        call_ids=writer.ids.renamed(),
        repairs=log.all(),
    )


def _element(turn: Turn) -> Mapping[str, Json]:
    return {"role": turn.speaker, "content": [*turn.parts]}


def _mark_front(fields: dict[str, Json]) -> None:
    """A breakpoint behind the system parts, which stand behind the tools; else behind these."""
    for name in ("system", "tools"):
        parts = fields.get(name)
        if isinstance(parts, list) and parts:
            last = cast("Part", parts[-1])
            fields[name] = [*parts[:-1], {**last, "cache_control": dict(BREAKPOINT)}]
            return


def _marked(element: Mapping[str, Json]) -> Mapping[str, Json]:
    parts = cast("list[Part]", element["content"])
    last = next((at for at in reversed(range(len(parts))) if _takes_mark(parts[at])), None)
    if last is None:
        return element
    marked = {**parts[last], "cache_control": dict(BREAKPOINT)}
    return {**element, "content": [*parts[:last], marked, *parts[last + 1 :]]}


def _takes_mark(part: Part) -> bool:
    return part.get("type") not in _UNMARKED


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _call(call_id: str, name: str, arguments: dict[str, Json]) -> Part:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(result: ToolResult, call_id: str, parts: list[Part]) -> list[Part]:
    fault: Part = {"is_error": True} if result.state in FAULTS else {}
    return [{"type": "tool_result", "tool_use_id": call_id, "content": [*parts], **fault}]


def _medium(data: Data, place: Place, names: DocumentNames) -> Part | None:
    del names
    if place not in ("user", "result"):
        return None
    source = _source(data)
    if source is None:
        return None
    if is_image(data) or _names_image(data):
        return {"type": "image", "source": source}
    title: Part = {"title": data.name} if data.name else {}
    return {"type": "document", "source": source, **title}


def _source(data: Data) -> Part | None:
    if isinstance(data.source, FileIdSource):
        return {"type": "file", "file_id": data.source.id} if data.source.id else None
    sort, inside = media_type(data), payload(data)
    if is_image(data) or sort == PDF_TYPE:
        if inside is not None:
            known = "image/jpeg" if sort == "image/jpg" else sort
            return None if "*" in str(sort) else _inside(known, inside)
        url = address(data)
        return None if url is None else {"type": "url", "url": url}
    text = decoded_text(data)
    return None if text is None else {"type": "text", "media_type": "text/plain", "data": text}


def _inside(sort: str | None, base64: str) -> Part:
    return {"type": "base64", "media_type": sort, "data": base64}


def _names_image(data: Data) -> bool:
    """Whether a file under an id is an image by its name."""
    name = (data.name or "").lower()
    return isinstance(data.source, FileIdSource) and name.endswith(
        (".png", ".jpg", ".jpeg", ".gif", ".webp")
    )


def _thinking(block: Thinking) -> Part | None:
    """The block that the model wrote: signed, or hidden."""
    state = block.provider_state
    data = state.data if state is not None and isinstance(state.data, Mapping) else {}
    hidden, signature = data.get("data"), data.get("signature")
    if data.get("type") == "redacted_thinking" and isinstance(hidden, str) and hidden:
        return {"type": "redacted_thinking", "data": hidden}
    if isinstance(signature, str) and signature:
        return {"type": "thinking", "thinking": block.thinking, "signature": signature}
    return None


def _own_block(payload: Part) -> Part | None:
    """The block with its type, and without a breakpoint, which is set anew."""
    if not isinstance(payload.get("type"), str):
        return None
    return {name: value for name, value in payload.items() if name != "cache_control"}


_DIALECT = TurnDialect(
    driver=DRIVER,
    call_ids=CALL_IDS,
    text=_text,
    call=_call,
    result=_result,
    medium=_medium,
    thinking=_thinking,
    own_block=_own_block,
    order="combined",
)
