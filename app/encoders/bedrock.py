"""Bedrock's Converse: turns of content blocks for models of many makers.

Source: docs/semantics/encoders.md#bedrockconverse.
"""

import re
from collections.abc import Mapping
from typing import cast
from urllib.parse import quote

from app.core.blocks import Data, Thinking, ToolResult
from app.core.canonical import Json
from app.encoders.bedrock_fields import bedrock_fields
from app.encoders.call_ids import CallIdRule
from app.encoders.documents import TEXT_TYPES
from app.encoders.encoding import Encoded, EncodingOptions, Target
from app.encoders.media import PDF_TYPE, is_image, media_type, payload
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

DRIVER = "bedrock"
"""Of the provider state that is replayed."""

CALL_IDS = CallIdRule(
    pattern=re.compile(r"[a-zA-Z0-9_-]{1,64}"), length=30, prefix="tooluse_", reuse="renamed"
)

BREAKPOINT: Part = {"cachePoint": {"type": "default"}}
_CACHED = re.compile(r".*(?:claude|nova).*", re.DOTALL)
"""Models that take breakpoints; the others refuse them."""
_DOCUMENTS: Mapping[str, str] = {PDF_TYPE: "pdf", **TEXT_TYPES}
_UNNAMED = "document"
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9\-()\[\] ]+")
_NAME_CHARS = 180
"""Leaves room for the number of a name that was taken."""


def encode(request: NeutralRequest, options: EncodingOptions) -> Encoded:
    """The body of a Converse request; equal requests give equal bodies."""
    log = RepairLog()
    writer = TurnWriter(dialect=_DIALECT, options=options, model=request.model, log=log)
    system = writer.system(request)
    writer.write(request)
    elements = [_element(turn) for turn in writer.turns]
    fields = bedrock_fields(request, writer.turns, log)
    if system:
        fields["system"] = [*system]
    cached: dict[int, Mapping[str, Json]] = {}
    if options.cache == "auto" and _CACHED.fullmatch(request.model) is not None:
        _mark_front(fields)
        cached = {at: _marked(elements[at]) for at in breakpoints(writer.turns)}
    return Encoded(
        path="messages",
        elements=tuple(elements),
        fields=fields,
        cached=cached,
        call_ids=writer.ids.renamed(),
        target=Target(method="POST", path=f"/model/{quote(request.model, safe='')}/converse"),
        repairs=log.all(),
    )


def _mark_front(fields: dict[str, Json]) -> None:
    """A breakpoint behind the system parts, which stand behind the tools; else behind these."""
    system, config = fields.get("system"), fields.get("toolConfig")
    if isinstance(system, list):
        fields["system"] = [*system, dict(BREAKPOINT)]
    elif isinstance(config, dict):
        tools = cast("list[Json]", config["tools"])
        fields["toolConfig"] = {**config, "tools": [*tools, dict(BREAKPOINT)]}


def _element(turn: Turn) -> Mapping[str, Json]:
    return {"role": turn.speaker, "content": [*turn.parts]}


def _marked(element: Mapping[str, Json]) -> Mapping[str, Json]:
    parts = cast("list[Json]", element["content"])
    return {**element, "content": [*parts, dict(BREAKPOINT)]}


def _text(text: str) -> Part:
    return {"text": text}


def _call(call_id: str, name: str, arguments: dict[str, Json]) -> Part:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def _result(result: ToolResult, call_id: str, parts: list[Part]) -> list[Part]:
    status = "error" if result.state in FAULTS else "success"
    return [{"toolResult": {"toolUseId": call_id, "content": [*parts], "status": status}}]


def _medium(data: Data, place: Place, names: DocumentNames) -> Part | None:
    inside, sort = payload(data), media_type(data)
    if inside is None or sort is None or place not in ("user", "result"):
        # Addresses on the web are not read.
        return None
    source: Part = {"bytes": inside}
    if is_image(data) and "*" not in sort:
        known = sort.removeprefix("image/").replace("jpg", "jpeg")
        return {"image": {"format": known, "source": source}}
    if sort not in _DOCUMENTS:
        return None
    name = names.next(_document_name(data))
    return {"document": {"format": _DOCUMENTS[sort], "name": name, "source": source}}


def _document_name(data: Data) -> str:
    """A name of the letters that are taken, without two spaces in a row."""
    name = " ".join(_NOT_IN_NAMES.sub(" ", data.name or "").split())
    return name[:_NAME_CHARS].strip() or _UNNAMED


def _thinking(block: Thinking) -> Part | None:
    """The block that the model wrote: signed, or hidden."""
    state = block.provider_state
    data = state.data if state is not None and isinstance(state.data, Mapping) else {}
    hidden, signature = data.get("redactedContent"), data.get("signature")
    if isinstance(hidden, str) and hidden:
        return {"reasoningContent": {"redactedContent": hidden}}
    if isinstance(signature, str) and signature:
        said: Part = {"text": block.thinking, "signature": signature}
        return {"reasoningContent": {"reasoningText": said}}
    return None


def _own_block(payload: Part) -> Part | None:
    """The block, unless it is a breakpoint, which is set anew."""
    return None if not payload or "cachePoint" in payload else payload


_DIALECT = TurnDialect(
    driver=DRIVER,
    call_ids=CALL_IDS,
    text=_text,
    call=_call,
    result=_result,
    medium=_medium,
    thinking=_thinking,
    own_block=_own_block,
    order="strict",
)
