"""Bodies of the chat family: one list of messages with roles, results in messages of their own.

Source: docs/semantics/importers.md#chat-bodies.
"""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import TypeAlias

from app.core.blocks import Block, Blocks, ToolCall, ToolResult, text_block
from app.encoders.decoding import Asked, InvalidAnswer
from app.encoders.repairs import RepairLog
from app.importers.gathering import Gathering
from app.importers.reading import (
    JsonObject,
    arguments_of,
    object_of,
    objects,
    text_of,
    text_or_none,
    whole,
)
from app.importers.tools import add_tool
from app.importers.transcript import Imported, InvalidTranscript

ReadPart: TypeAlias = Callable[[JsonObject, str, Gathering], Block | None]
"""A part of a content list as a block; None for a sort that is not known."""
ReadAnswer: TypeAlias = Callable[[Mapping[str, object], Asked, RepairLog, str], Blocks]
"""An assistant message as blocks."""

_OF_BODY = frozenset({"model", "messages", "tools", "functions"})
_OF_MESSAGE = frozenset({"role", "content"})
_OF_RESULT = frozenset({"role", "content", "tool_call_id", "name"})
_OF_CALL = frozenset({"id", "type", "index", "function"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReader:
    """What a member of the family has otherwise than the others."""

    driver: str
    read_part: ReadPart
    read_answer: ReadAnswer
    of_answer: Set[str]
    """Fields of an assistant message that are read, or say nothing."""

    def body(self, transcript: object, model: str | None) -> Imported:
        """A body, or its messages alone.

        Raises:
            InvalidTranscript: It is no body of a chat completion.
        """
        body, path = whole(transcript, "messages")
        gathering = Gathering()
        named = text_or_none(body.get("model")) or model
        for message, key in objects(body["messages"], path):
            self._message(message, key, gathering, named)
        gathering.settings(body, _OF_BODY)
        self._tools(body, gathering)
        return gathering.imported()

    def _message(
        self, message: JsonObject, key: str, gathering: Gathering, model: str | None
    ) -> None:
        match message.get("role"):
            case "system" | "developer" as role:
                gathering.left_out(message, _OF_MESSAGE)
                gathering.system(self._content(message, key, gathering), role)
            case "user":
                gathering.left_out(message, _OF_MESSAGE)
                gathering.user(self._content(message, key, gathering))
            case "assistant":
                gathering.left_out(message, self.of_answer)
                gathering.assistant(self._answer(message, key, gathering, model))
            case "tool" | "function":
                gathering.left_out(message, _OF_RESULT)
                gathering.results([self._result(message, key, gathering)])
            case _:
                raise InvalidTranscript("a message must have a known role", key=f"{key}.role")

    def _answer(
        self, message: JsonObject, key: str, gathering: Gathering, model: str | None
    ) -> Blocks:
        log = RepairLog()
        try:
            blocks = self.read_answer(_with_functions(message), Asked(model=model), log, key)
        except InvalidAnswer as error:
            raise InvalidTranscript(error.detail, **error.details) from error
        made = {repair.call_id for repair in log.all()}
        # The ids of calls without one are made here, so that no two are alike.
        blocks = tuple(
            _without_id(block) if isinstance(block, ToolCall) and block.id in made else block
            for block in blocks
        )
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            gathering.left_out(call, _OF_CALL)
        legacy = message.get("function_call")
        return blocks if legacy is None else (*blocks, _legacy_call(legacy, f"{key}.function_call"))

    def _result(self, message: JsonObject, key: str, gathering: Gathering) -> ToolResult:
        return ToolResult(
            type="tool_result",
            id=text_or_none(message.get("tool_call_id")) or "",
            name=text_or_none(message.get("name")),
            output=self._content(message, key, gathering),
        )

    def _content(self, message: JsonObject, key: str, gathering: Gathering) -> Blocks:
        content = message.get("content")
        if isinstance(content, str):
            return (text_block(content),)
        parts = objects(content, f"{key}.content")
        return tuple(self._block(part, path, gathering) for part, path in parts)

    def _block(self, part: JsonObject, key: str, gathering: Gathering) -> Block:
        block = self.read_part(part, key, gathering)
        if block is not None:
            return block
        sort = text_of(part.get("type"), f"{key}.type")
        return gathering.opaque(self.driver, sort, part)

    def _tools(self, body: JsonObject, gathering: Gathering) -> None:
        for tool, key in objects(body.get("tools"), "transcript.tools"):
            function = tool.get("function")
            if function is None:
                sort = text_or_none(tool.get("type")) or "function"
                gathering.about_all("tool_left_out", sort)
                continue
            add_tool(object_of(function, f"{key}.function"), key, gathering, "parameters")
        for function, key in objects(body.get("functions"), "transcript.functions"):
            add_tool(function, key, gathering, "parameters")


def _with_functions(message: JsonObject) -> JsonObject:
    """The message with calls of custom tools, whose input is text, as calls of functions."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [_as_function(call) for call in calls]}


def _as_function(call: object) -> object:
    match call:
        case {"type": "custom", "custom": {"name": name, "input": str(text)}, **rest}:
            return {**rest, "function": {"name": name, "arguments": text}}
        case _:
            return call


def _without_id(call: ToolCall) -> ToolCall:
    return ToolCall(type="tool_call", id="", name=call.name, input=call.input)


def _legacy_call(value: object, key: str) -> ToolCall:
    call = object_of(value, key)
    return ToolCall(
        type="tool_call",
        id="",
        name=text_of(call.get("name"), f"{key}.name"),
        input=arguments_of(call.get("arguments"), f"{key}.arguments"),
    )
