"""Gemini's generateContent: contents of parts, with signatures on the parts themselves.

Source: docs/semantics/encoders.md#geminigenerate_content.
"""

import re
from collections.abc import Mapping
from typing import cast
from urllib.parse import quote

from app.core.blocks import Data, FileIdSource, Thinking, ToolResult, UrlSource
from app.core.canonical import Json
from app.encoders.call_ids import CallIdRule
from app.encoders.encoding import Encoded, EncodingOptions, Target
from app.encoders.gemini_fields import gemini_fields
from app.encoders.media import media_type, payload
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
)

DRIVER = "gemini"
"""Of the provider state that is replayed."""
SIGNATURE = "thoughtSignature"
ANY_SIGNATURE = "skip_thought_signature_validator"
"""Stands for the signature of a call that has none: Google's own word for histories from afar."""

CALL_IDS = CallIdRule(pattern=re.compile(r"[!-~]{1,64}"), length=29, prefix="call_")

_SIGNED = re.compile(r"(?:.*/)?gemini-(?:[3-9]|[1-9][0-9]).*", re.DOTALL)
"""Models that refuse a call without a signature, and take media inside of a result."""
_NAMELESS = "tool"
_TAKEN = re.compile(
    r"image/(?:png|jpeg|jpg|webp|heic|heif)|audio/(?:wav|x-wav|wave|mp3|mpeg|aiff|aac|ogg|flac)"
    r"|video/(?:mp4|mpeg|mov|quicktime|avi|x-flv|mpg|webm|wmv|3gpp)|application/pdf"
    r"|text/(?:plain|html|css|csv|xml|md|markdown|rtf|javascript|x-python)"
)
_KNOWN_AS = {"image/jpg": "image/jpeg"}


def encode(request: NeutralRequest, options: EncodingOptions) -> Encoded:
    """The body of a generateContent request; equal requests give equal bodies."""
    log = RepairLog()
    is_signed = _SIGNED.fullmatch(request.model) is not None
    dialect = _SIGNING if is_signed else _PLAIN
    writer = TurnWriter(dialect=dialect, options=options, model=request.model, log=log)
    system = writer.system(request)
    writer.write(request)
    turns = [_signed(turn, log) for turn in writer.turns] if is_signed else writer.turns
    fields = gemini_fields(request, log)
    if system:
        fields["systemInstruction"] = {"parts": [*system]}
    return Encoded(
        path="contents",
        elements=tuple(map(_element, turns)),
        fields=fields,
        call_ids=writer.ids.renamed(),
        target=Target(method="POST", path=_path(request.model)),
        repairs=log.all(),
    )


def _path(model: str) -> str:
    name = model if "/" in model else f"models/{model}"
    return f"/v1beta/{quote(name, safe='/')}:generateContent"


def _element(turn: Turn) -> Mapping[str, Json]:
    role = "model" if turn.speaker == "assistant" else "user"
    return {"role": role, "parts": [*turn.parts]}


def _signed(turn: Turn, log: RepairLog) -> Turn:
    """The turn with a signature on the first of its calls, the only one that is looked at."""
    at = next((at for at, part in enumerate(turn.parts) if "functionCall" in part), None)
    if at is None or SIGNATURE in turn.parts[at]:
        return turn
    call = cast("Part", turn.parts[at]["functionCall"])
    log.add("signature_placeholder", None, call_id=str(call["id"]))
    signed = {**turn.parts[at], SIGNATURE: ANY_SIGNATURE}
    return Turn(
        speaker=turn.speaker,
        parts=[*turn.parts[:at], signed, *turn.parts[at + 1 :]],
        origin=turn.origin,
        carries=turn.carries,
    )


def _text(text: str) -> Part:
    return {"text": text}


def _call(call_id: str, name: str, arguments: dict[str, Json]) -> Part:
    return {"functionCall": {"id": call_id, "name": name, "args": arguments}}


def _result_inside(result: ToolResult, call_id: str, parts: list[Part]) -> list[Part]:
    """A result that holds its media."""
    media: list[Json] = [part for part in parts if "text" not in part]
    response = _response(result, call_id, parts)
    return [{"functionResponse": {**response, "parts": media} if media else response}]


def _result_beside(result: ToolResult, call_id: str, parts: list[Part]) -> list[Part]:
    """A result with its media behind it."""
    media = [part for part in parts if "text" not in part]
    return [{"functionResponse": _response(result, call_id, parts)}, *media]


def _response(result: ToolResult, call_id: str, parts: list[Part]) -> Part:
    said = "\n".join(str(part["text"]) for part in parts if "text" in part)
    key = "error" if result.state in FAULTS else "output"
    return {"id": call_id, "name": result.name or _NAMELESS, "response": {key: said}}


def _medium(data: Data, place: Place, names: DocumentNames) -> Part | None:
    del names
    if place not in ("user", "result"):
        return None
    if isinstance(data.source, FileIdSource):
        return {"fileData": {"fileUri": data.source.id}} if data.source.id else None
    sort, inside = media_type(data), payload(data)
    if sort is None or _TAKEN.fullmatch(sort) is None:
        return None
    known = _KNOWN_AS.get(sort, sort)
    if inside is not None:
        return {"inlineData": {"mimeType": known, "data": inside}}
    if isinstance(data.source, UrlSource) and data.source.url.lower().startswith("http"):
        return {"fileData": {"fileUri": data.source.url, "mimeType": known}}
    return None


def _thinking(block: Thinking) -> Part | None:
    """The thought that the model signed."""
    state = block.provider_state
    data = state.data if state is not None and isinstance(state.data, Mapping) else {}
    signature = data.get(SIGNATURE)
    if not block.thinking or not isinstance(signature, str) or not signature:
        return None
    return {"text": block.thinking, "thought": True, SIGNATURE: signature}


def _own_block(payload: Part) -> Part | None:
    return payload or None


_PLAIN = TurnDialect(
    driver=DRIVER,
    call_ids=CALL_IDS,
    text=_text,
    call=_call,
    result=_result_beside,
    medium=_medium,
    thinking=_thinking,
    own_block=_own_block,
    order="strict",
)
_SIGNING = TurnDialect(
    driver=DRIVER,
    call_ids=CALL_IDS,
    text=_text,
    call=_call,
    result=_result_inside,
    medium=_medium,
    thinking=_thinking,
    own_block=_own_block,
    order="strict",
)
