"""Messages as the chat family has them: one list, roles, and a tool message for every result.

What its members do otherwise is a `ChatDialect`. Everything is written left
to right, and nothing looks ahead.

Source: docs/semantics/encoders.md#the-chat-family.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never, cast

from app.core.blocks import (
    Block,
    Blocks,
    Data,
    ProviderOpaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.canonical import Json
from app.core.data_filter import data_line
from app.core.messages import Role
from app.core.wrapped_arguments import argument_text
from app.encoders.call_ids import CallIdRule, CallIds
from app.encoders.encoding import EncodingOptions
from app.encoders.media import media_type
from app.encoders.placeholders import (
    EMPTY_MESSAGE_TEXT,
    EMPTY_RESULT_TEXT,
    moved_heading,
    moved_note,
)
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest

Part: TypeAlias = dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDialect:
    """What a member of the family has otherwise than the others."""

    call_ids: CallIdRule
    media_part: Callable[[Data], Part | None]
    """A medium as a part of a user message; None where no part can carry it."""
    thinking_part: Callable[[Thinking, str], Part | None]
    """Thinking as a part for the model of that name; None where it is not for it."""
    own_driver: str | None
    """Of the blocks that an assistant message takes as they are; None: it takes none."""
    result_media: Literal["inside", "moved"]
    """Whether a tool message carries media, or the user message behind the results."""
    result_names: Literal["told", "left_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEntry:
    """A message of the body."""

    element: Mapping[str, Json]
    message_index: int | None
    """Of the neutral message that it comes from; None for system messages."""

    @property
    def role(self) -> Json:
        """The role in the body."""
        return self.element["role"]


@dataclass(slots=True, kw_only=True)
class ChatWriter:
    """Writes the messages of one request."""

    dialect: ChatDialect
    options: EncodingOptions
    model: str
    log: RepairLog
    entries: list[ChatEntry] = field(default_factory=list)
    _moved: list[Part] = field(default_factory=list)
    """What the user message behind these results will carry."""
    ids: CallIds = field(init=False)

    def __post_init__(self) -> None:
        self.ids = CallIds(rule=self.dialect.call_ids)

    def write(self, request: NeutralRequest) -> None:
        """Write all messages of a request."""
        for blocks in request.system:
            content = _content(self._parts("system", blocks, None))
            if content is not None:
                self._add({"role": "system", "content": content}, None)
        for index, message in enumerate(request.messages):
            if message.role != "tool":
                # Every call has its result by now, so the run of results is whole.
                self._move_media(index - 1)
            match message.role:
                case "assistant":
                    self._assistant(message.blocks, index)
                case "tool":
                    self._tool(message.blocks, index)
                case _:
                    self._user(message.blocks, index)
        self._move_media(len(request.messages) - 1)

    def _add(self, element: Mapping[str, Json], index: int | None) -> None:
        self.entries.append(ChatEntry(element=element, message_index=index))

    def _user(self, blocks: Blocks, index: int) -> None:
        content = _content(self._parts("user", blocks, index))
        if content is None:
            self.log.add("placeholder_added", index)
            content = EMPTY_MESSAGE_TEXT
        self._add({"role": "user", "content": content}, index)

    def _assistant(self, blocks: Blocks, index: int) -> None:
        content = _content(self._parts("assistant", blocks, index))
        calls: list[Json] = [
            self._call(block, index) for block in blocks if isinstance(block, ToolCall)
        ]
        if calls:
            self._add({"role": "assistant", "content": content, "tool_calls": calls}, index)
        elif content is not None:
            self._add({"role": "assistant", "content": content}, index)
        else:
            self.log.add("empty_message_dropped", index)

    def _call(self, call: ToolCall, index: int) -> Part:
        made = self.ids.of_call(call.id)
        arguments = argument_text(call.input)
        if made != call.id:
            self.log.add("call_id_renamed", index, call_id=call.id)
        if arguments != call.input:
            self.log.add("arguments_wrapped", index, call_id=call.id)
        if call.provider_state is not None:
            self.log.add("foreign_state_dropped", index, call_id=call.id)
        function: Part = {"name": call.name, "arguments": arguments}
        return {"id": made, "type": "function", "function": function}

    def _tool(self, blocks: Blocks, index: int) -> None:
        for block in blocks:
            if isinstance(block, ToolResult):
                self._result(block, index)

    def _result(self, result: ToolResult, index: int) -> None:
        call_id = self.ids.of_result(result.id)
        content = _content(self._parts("tool", result.output, index))
        if content is None:
            self.log.add("placeholder_added", index, call_id=result.id)
            content = EMPTY_RESULT_TEXT
        named = self.dialect.result_names == "told" and result.name is not None
        name: Part = {"name": result.name} if named else {}
        self._add({"role": "tool", **name, "tool_call_id": call_id, "content": content}, index)
        if self.dialect.result_media == "moved":
            self._keep_media(result, call_id)

    def _keep_media(self, result: ToolResult, call_id: str) -> None:
        parts = [self._carried(block) for block in result.output if isinstance(block, Data)]
        carried = [part for part in parts if part is not None]
        if carried:
            self._moved += [_text_part(moved_heading(call_id)), *carried]

    def _move_media(self, index: int) -> None:
        """Write the user message with the media of the results that were just written."""
        if self._moved:
            content: list[Json] = [*self._moved]
            self._moved = []
            self._add({"role": "user", "content": content}, index)

    def _parts(self, place: Role, blocks: Blocks, index: int | None) -> list[Part]:
        parts = (self._part(place, block, index) for block in blocks)
        return [part for part in parts if part is not None]

    def _part(self, place: Role, block: Block, index: int | None) -> Part | None:
        match block:
            case Text(text=""):
                self.log.add("empty_text_dropped", index)
                return None
            case Text(text=text, provider_state=state):
                if state is not None:
                    self.log.add("foreign_state_dropped", index)
                return _text_part(text)
            case Data():
                return self._medium(place, block, index)
            case Thinking():
                return self._thinking(block, index)
            case ProviderOpaque():
                return self._opaque(place, block, index)
            case ToolCall() | ToolResult():
                return None
            case _:
                assert_never(block)

    def _opaque(self, place: Role, block: ProviderOpaque, index: int | None) -> Part | None:
        is_own = place == "assistant" and block.driver == self.dialect.own_driver
        if is_own and isinstance(block.payload, dict) and "type" in block.payload:
            # Payloads are JSON, as they came in.
            return cast("Part", block.payload)
        self.log.add("foreign_block_dropped", index, detail=block.driver)
        return None

    def _thinking(self, block: Thinking, index: int | None) -> Part | None:
        part = self.dialect.thinking_part(block, self.model)
        if part is None:
            is_signed = block.provider_state is not None
            self.log.add(
                "foreign_thinking_dropped" if is_signed else "unsigned_thinking_dropped", index
            )
        return part

    def _medium(self, place: Role, data: Data, index: int | None) -> Part:
        carried = self._carried(data)
        detail = media_type(data) or "file"
        if carried is not None and place == "user":
            return carried
        if carried is not None and place == "tool":
            if self.dialect.result_media == "inside":
                return carried
            self.log.add("media_moved", index, detail=detail)
            return _text_part(moved_note(data))
        self.log.add("media_replaced", index, detail=detail)
        return _text_part(data_line(data))

    def _carried(self, data: Data) -> Part | None:
        return self.dialect.media_part(data) if self.options.accepts_data_blocks else None


def _text_part(text: str) -> Part:
    return {"type": "text", "text": text}


def _content(parts: list[Part]) -> Json:
    """Content as short as it can be said: null for nothing, a string for one text."""
    if not parts:
        return None
    if len(parts) == 1 and parts[0]["type"] == "text":
        return parts[0]["text"]
    return [*parts]
