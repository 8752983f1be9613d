"""OpenAI's Responses: a list of items, in which calls, results and reasoning stand by themselves.

Source: docs/semantics/encoders.md#openairesponses.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never, cast

from app.core.blocks import (
    Block,
    Blocks,
    Data,
    FileIdSource,
    ProviderOpaque,
    ProviderState,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.canonical import Json
from app.core.data_filter import data_line
from app.core.wrapped_arguments import argument_text
from app.encoders.call_ids import CallIdRule, CallIds
from app.encoders.encoding import Encoded, EncodingOptions
from app.encoders.media import PDF_TYPE, address, is_image, media_type, payload
from app.encoders.openai_responses_fields import response_fields
from app.encoders.placeholders import EMPTY_MESSAGE_TEXT, EMPTY_RESULT_TEXT
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest
from app.encoders.same_model import is_same_model

DRIVER = "openai"
"""Of the provider state that is replayed."""

CALL_IDS = CallIdRule(
    pattern=re.compile(r"[!-~]{1,64}"), length=29, prefix="call_", reuse="renamed"
)

CUSTOM_CALL = "custom_tool_call"
"""Of calls whose input is free text."""

UNNAMED_FILE = "file.pdf"
Part = dict[str, Json]


def encode(request: NeutralRequest, options: EncodingOptions) -> Encoded:
    """The body of a response; equal requests give equal bodies."""
    log = RepairLog()
    writer = ItemWriter(options=options, model=request.model, log=log)
    writer.write(request)
    return Encoded(
        path="input",
        elements=tuple(writer.items),
        fields=response_fields(request, log),
        call_ids=writer.ids.renamed(),
        repairs=log.all(),
    )


@dataclass(slots=True, kw_only=True)
class ItemWriter:
    """Writes the items of one request, left to right."""

    options: EncodingOptions
    model: str
    log: RepairLog
    items: list[Part] = field(default_factory=list)
    ids: CallIds = field(init=False)
    _custom: set[str] = field(default_factory=set)
    """Ids of the calls whose input is free text."""

    def __post_init__(self) -> None:
        self.ids = CallIds(rule=CALL_IDS)

    def write(self, request: NeutralRequest) -> None:
        """Write all items of a request."""
        for blocks in request.system:
            self._message("system", blocks, None)
        in_front = len(self.items)
        for index, message in enumerate(request.messages):
            match message.role:
                case "assistant":
                    self._assistant(message.blocks, index)
                case "tool":
                    self._results(message.blocks, index)
                case _:
                    self._user(message.blocks, index)
        if len(self.items) == in_front:
            self.log.add("placeholder_added", None)
            self.items.append({"role": "user", "content": EMPTY_MESSAGE_TEXT})

    def _message(self, role: str, blocks: Blocks, index: int | None) -> bool:
        """Whether there was anything to write."""
        parts = self._parts(blocks, index)
        if parts:
            self.items.append({"role": role, "content": _content(parts)})
        return bool(parts)

    def _user(self, blocks: Blocks, index: int) -> None:
        if not self._message("user", blocks, index):
            self.log.add("placeholder_added", index)
            self.items.append({"role": "user", "content": EMPTY_MESSAGE_TEXT})

    def _assistant(self, blocks: Blocks, index: int) -> None:
        pairs = [(block, self._item(block, index)) for block in blocks]
        written = [(block, item) for block, item in pairs if item is not None]
        for at, (block, item) in enumerate(written):
            if isinstance(block, Thinking) and not _is_followed(written[at + 1 :]):
                # Reasoning without what it led to is refused.
                self.log.add("foreign_thinking_dropped", index)
            else:
                self.items.append(item)
        if not written:
            self.log.add("empty_message_dropped", index)

    def _item(self, block: Block, index: int) -> Part | None:
        """The item of a block of the assistant's."""
        match block:
            case Text():
                text = self._text(block, index)
                return None if text is None else {"role": "assistant", "content": text}
            case Data():
                return {"role": "assistant", "content": self._note(block, index)}
            case Thinking():
                return self._reasoning(block, index)
            case ToolCall():
                return self._call(block, index)
            case ProviderOpaque():
                return self._opaque(block, index)
            case ToolResult():
                return None
            case _:
                assert_never(block)

    def _is_own(self, state: ProviderState | None) -> bool:
        return (
            state is not None
            and state.driver == DRIVER
            and is_same_model(state.model, self.model)
            and isinstance(state.data, Mapping)
        )

    def _reasoning(self, block: Thinking, index: int) -> Part | None:
        state = block.provider_state
        if state is None or not self._is_own(state) or not _names_reasoning(state.data):
            self.log.add(
                "unsigned_thinking_dropped" if state is None else "foreign_thinking_dropped", index
            )
            return None
        plain: list[Json] = []
        if block.thinking:
            plain = [{"type": "summary_text", "text": block.thinking}]
        # Provider state is JSON, as it came in.
        kept = cast("Part", dict(cast("Mapping[str, Json]", state.data)))
        return {"type": "reasoning", "summary": plain, **kept}

    def _call(self, call: ToolCall, index: int) -> Part:
        made = self.ids.of_call(call.id)
        if made != call.id:
            self.log.add("call_id_renamed", index, call_id=call.id)
        if self._is_custom(call, index):
            self._custom.add(made)
            return {"type": CUSTOM_CALL, "call_id": made, "name": call.name, "input": call.input}
        arguments = argument_text(call.input)
        if arguments != call.input:
            self.log.add("arguments_wrapped", index, call_id=call.id)
        return {
            "type": "function_call",
            "call_id": made,
            "name": call.name,
            "arguments": arguments,
        }

    def _is_custom(self, call: ToolCall, index: int) -> bool:
        state = call.provider_state
        if state is None:
            return False
        if self._is_own(state) and cast("Part", state.data).get("type") == CUSTOM_CALL:
            return True
        self.log.add("foreign_state_dropped", index, call_id=call.id)
        return False

    def _results(self, blocks: Blocks, index: int) -> None:
        for block in blocks:
            if isinstance(block, ToolResult):
                made = self.ids.of_result(block.id)
                parts = self._parts(block.output, index)
                if not parts:
                    self.log.add("placeholder_added", index, call_id=block.id)
                    parts = [_text_part(EMPTY_RESULT_TEXT)]
                sort = f"{CUSTOM_CALL}_output" if made in self._custom else "function_call_output"
                self.items.append({"type": sort, "call_id": made, "output": _content(parts)})

    def _opaque(self, block: ProviderOpaque, index: int) -> Part | None:
        if block.driver == DRIVER and isinstance(block.payload, dict) and "type" in block.payload:
            # Payloads are JSON, as they came in.
            return cast("Part", block.payload)
        self.log.add("foreign_block_dropped", index, detail=block.driver)
        return None

    def _parts(self, blocks: Blocks, index: int | None) -> list[Part]:
        parts = (self._part(block, index) for block in blocks)
        return [part for part in parts if part is not None]

    def _part(self, block: Block, index: int | None) -> Part | None:
        """A part of what users and tools say."""
        match block:
            case Text():
                text = self._text(block, index)
                return None if text is None else _text_part(text)
            case Data():
                part = _medium(block) if self.options.accepts_data_blocks else None
                return _text_part(self._note(block, index)) if part is None else part
            case ProviderOpaque():
                self.log.add("foreign_block_dropped", index, detail=block.driver)
                return None
            case _:
                return None

    def _text(self, block: Text, index: int | None) -> str | None:
        if not block.text:
            self.log.add("empty_text_dropped", index)
            return None
        if block.provider_state is not None:
            self.log.add("foreign_state_dropped", index)
        return block.text

    def _note(self, data: Data, index: int | None) -> str:
        self.log.add("media_replaced", index, detail=media_type(data) or "file")
        return data_line(data)


def _names_reasoning(data: object) -> bool:
    """Whether state has what the API knows the reasoning by."""
    return isinstance(data, Mapping) and isinstance(data.get("id"), str) and bool(data["id"])


def _is_followed(rest: list[tuple[Block, Part]]) -> bool:
    return any(not isinstance(block, Thinking) for block, _ in rest)


def _medium(data: Data) -> Part | None:
    if isinstance(data.source, FileIdSource):
        return {"type": "input_file", "file_id": data.source.id} if data.source.id else None
    url = address(data)
    if url is None:
        return None
    if is_image(data):
        return {"type": "input_image", "detail": "auto", "image_url": url}
    if media_type(data) != PDF_TYPE:
        return None
    if payload(data) is None:
        return {"type": "input_file", "file_url": url}
    return {"type": "input_file", "filename": data.name or UNNAMED_FILE, "file_data": url}


def _text_part(text: str) -> Part:
    return {"type": "input_text", "text": text}


def _content(parts: list[Part]) -> Json:
    """Content as short as it can be said: a string for one text."""
    if len(parts) == 1 and parts[0]["type"] == "input_text":
        return parts[0]["text"]
    return [*parts]
