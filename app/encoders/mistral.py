"""Mistral's Chat Completions: the chat family with rules on the order of roles.

Source: docs/semantics/encoders.md#mistralchat.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from app.core.blocks import Data, FileIdSource, Thinking
from app.core.canonical import Json
from app.encoders.call_ids import CallIdRule
from app.encoders.chat import ChatDialect, ChatEntry, ChatWriter, Part
from app.encoders.chat_fields import ChatFields, chat_fields
from app.encoders.encoding import Encoded, EncodingOptions
from app.encoders.media import AUDIO_FORMATS, PDF_TYPE, address, is_image, media_type, payload
from app.encoders.placeholders import BRIDGE_TEXT, EMPTY_MESSAGE_TEXT
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest
from app.encoders.same_model import is_same_model

DRIVER = "mistral"
"""Of the provider state that is replayed."""

CALL_IDS = CallIdRule(pattern=re.compile(r"[a-zA-Z0-9]{9}"), length=9)


def encode(request: NeutralRequest, options: EncodingOptions) -> Encoded:
    """The body of a chat completion; equal requests give equal bodies."""
    log = RepairLog()
    writer = ChatWriter(dialect=_DIALECT, options=options, model=request.model, log=log)
    writer.write(request)
    elements = _ordered(writer.entries, log)
    fields = chat_fields(request, _FIELDS, log)
    return Encoded(
        path="messages",
        elements=elements,
        fields=fields,
        call_ids=writer.ids.renamed(),
        repairs=log.all(),
    )


def _ordered(entries: Sequence[ChatEntry], log: RepairLog) -> tuple[Mapping[str, Json], ...]:
    """The messages in an order of roles that is taken.

    A user or a system message is first, no user message stands behind a tool
    message, and an answer that is last is marked as one to go on with.
    """
    elements: list[Mapping[str, Json]] = []
    if not entries or entries[0].role == "assistant":
        log.add("placeholder_added", None)
        elements.append({"role": "user", "content": EMPTY_MESSAGE_TEXT})
    previous: Json = None
    for entry in entries:
        if previous == "tool" and entry.role == "user":
            log.add("bridge_added", entry.message_index)
            elements.append({"role": "assistant", "content": BRIDGE_TEXT})
        elements.append(entry.element)
        previous = entry.role
    if previous == "assistant":
        log.add("last_message_continued", entries[-1].message_index)
        elements[-1] = {**elements[-1], "prefix": True}
    return tuple(elements)


def _media_part(data: Data) -> Part | None:
    if isinstance(data.source, FileIdSource):
        return {"type": "file", "file_id": data.source.id} if data.source.id else None
    sort, url = media_type(data), address(data)
    if url is None or sort is None:
        return None
    if is_image(data):
        return {"type": "image_url", "image_url": {"url": url}}
    if sort in AUDIO_FORMATS:
        return {"type": "input_audio", "input_audio": payload(data) or url}
    if sort == PDF_TYPE:
        name: Part = {} if data.name is None else {"document_name": data.name}
        return {"type": "document_url", "document_url": url, **name}
    return None


def _thinking_part(block: Thinking, model: str) -> Part | None:
    """The chunk that the model wrote, as it was."""
    state = block.provider_state
    if state is None or state.driver != DRIVER or not is_same_model(state.model, model):
        return None
    if not isinstance(state.data, Mapping) or not block.thinking:
        return None
    # Provider state is JSON, as it came in.
    chunk = cast("Mapping[str, Json]", state.data)
    text: Part = {"type": "text", "text": block.thinking}
    return {"thinking": [text], **chunk, "type": "thinking"}


_DIALECT = ChatDialect(
    call_ids=CALL_IDS,
    media_part=_media_part,
    thinking_part=_thinking_part,
    own_driver=DRIVER,
    result_media="inside",
    result_names="told",
)

_FIELDS = ChatFields(
    limit="max_tokens",
    settings=frozenset(
        {
            "frequency_penalty",
            "metadata",
            "parallel_tool_calls",
            "prediction",
            "presence_penalty",
            "prompt_mode",
            "random_seed",
            "reasoning_effort",
            "response_format",
            "safe_prompt",
            "stop",
            "temperature",
            "tool_choice",
            "top_p",
        }
    ),
    renamed={"seed": "random_seed"},
    required="any",
)
