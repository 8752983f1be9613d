"""OpenAI Chat Completions, and whatever speaks it.

Source: docs/semantics/encoders.md#openaichat.
"""

import re

from app.core.blocks import Data, FileIdSource, Thinking
from app.encoders.call_ids import CallIdRule
from app.encoders.chat import ChatDialect, ChatWriter, Part
from app.encoders.chat_fields import ChatFields, chat_fields
from app.encoders.encoding import Encoded, EncodingOptions
from app.encoders.media import AUDIO_FORMATS, PDF_TYPE, address, is_image, media_type, payload
from app.encoders.placeholders import EMPTY_MESSAGE_TEXT
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest

CALL_IDS = CallIdRule(pattern=re.compile(r"[!-~]{1,40}"), length=29, prefix="call_")
"""OpenAI takes 40 characters. Ids with dots and colons are kept: servers that speak this format
make them, and some of their models read them."""

PDF_NAME = "document.pdf"
"""A file in the message itself must have a name."""


def encode(request: NeutralRequest, options: EncodingOptions) -> Encoded:
    """The body of a chat completion; equal requests give equal bodies."""
    log = RepairLog()
    writer = ChatWriter(dialect=_DIALECT, options=options, model=request.model, log=log)
    writer.write(request)
    elements = [entry.element for entry in writer.entries]
    if not elements:
        log.add("placeholder_added", None)
        elements.append({"role": "user", "content": EMPTY_MESSAGE_TEXT})
    fields = chat_fields(request, _FIELDS, log)
    return Encoded(
        path="messages",
        elements=tuple(elements),
        fields=fields,
        call_ids=writer.ids.renamed(),
        repairs=log.all(),
    )


def _media_part(data: Data) -> Part | None:
    if isinstance(data.source, FileIdSource):
        return {"type": "file", "file": {"file_id": data.source.id}} if data.source.id else None
    sort, base64 = media_type(data), payload(data)
    if is_image(data):
        url = address(data)
        return None if url is None else {"type": "image_url", "image_url": {"url": url}}
    if base64 is None or sort is None:
        return None
    if sort in AUDIO_FORMATS:
        sound: Part = {"data": base64, "format": AUDIO_FORMATS[sort]}
        return {"type": "input_audio", "input_audio": sound}
    if sort == PDF_TYPE:
        file: Part = {"filename": data.name or PDF_NAME, "file_data": address(data)}
        return {"type": "file", "file": file}
    return None


def _no_thinking(block: Thinking, model: str) -> None:
    """Nothing: this API takes no reasoning back."""


_DIALECT = ChatDialect(
    call_ids=CALL_IDS,
    media_part=_media_part,
    thinking_part=_no_thinking,
    own_driver=None,
    result_media="moved",
    result_names="left_out",
)

_FIELDS = ChatFields(
    limit="max_completion_tokens",
    settings=frozenset(
        {
            "frequency_penalty",
            "logit_bias",
            "logprobs",
            "metadata",
            "modalities",
            "audio",
            "parallel_tool_calls",
            "prediction",
            "presence_penalty",
            "prompt_cache_key",
            "prompt_cache_retention",
            "reasoning_effort",
            "response_format",
            "safety_identifier",
            "seed",
            "service_tier",
            "stop",
            "store",
            "temperature",
            "tool_choice",
            "top_logprobs",
            "top_p",
            "user",
            "verbosity",
            "web_search_options",
        }
    ),
    renamed={"random_seed": "seed"},
    required="required",
)
