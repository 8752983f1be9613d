"""Messages as turns of two speakers: results are in the user's, and nobody else is heard.

What the APIs that have it so do otherwise is a `TurnDialect`. Turns are
written left to right, and none is changed by what comes behind it.

Source: docs/semantics/encoders.md#turns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never, cast

from app.core.blocks import (
    Block,
    Blocks,
    Data,
    ProviderOpaque,
    ProviderState,
    ResultState,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from app.core.canonical import Json
from app.core.data_filter import data_line
from app.core.text import is_blank
from app.core.wrapped_arguments import RAW_KEY, argument_object
from app.encoders.call_ids import CallIdRule, CallIds
from app.encoders.encoding import EncodingOptions
from app.encoders.media import media_type
from app.encoders.placeholders import (
    BRIDGE_TEXT,
    CONTINUE_TEXT,
    EMPTY_MESSAGE_TEXT,
    EMPTY_RESULT_TEXT,
)
from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest
from app.encoders.same_model import is_same_model
from app.encoders.tool_loops import kept_thinking

_MARK = "cache_control"
"""Of a breakpoint, which is set anew."""

Part: TypeAlias = dict[str, Json]
Speaker: TypeAlias = Literal["user", "assistant"]
Place: TypeAlias = Literal["system", "user", "assistant", "result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDialect:
    """What one of these APIs has otherwise than the others."""

    driver: str
    """Of the provider state and the blocks that it takes back."""
    call_ids: CallIdRule
    text: Callable[[str], Part]
    call: Callable[[str, str, dict[str, Json]], Part]
    """A call of an id, a name and arguments."""
    result: Callable[[ToolResult, str, list[Part]], list[Part]]
    """A result under an id, with what it says: one part, and what it cannot hold behind it."""
    medium: Callable[[Data, Place, "DocumentNames"], Part | None]
    """None where no part can carry it there."""
    thinking: Callable[[Thinking], Part | None]
    """Thinking with state of this driver and model; None where the state is none that it made."""
    own_block: Callable[[Part], Part | None]
    """A block of the provider's own as it goes back; None where it has not its shape."""
    order: Literal["combined", "strict"]
    """Whether turns of one speaker in a row are taken."""


@dataclass(slots=True)
class DocumentNames:
    """The names of documents, which some APIs want to be different in a request."""

    _taken: set[str] = field(default_factory=set)

    def next(self, wanted: str) -> str:
        """The name, with a number behind it where it was taken before."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted} {number}"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of the body."""

    speaker: Speaker
    parts: list[Part]
    origin: Literal["said", "made"] = "said"
    """Whether somebody said something in it, or the API demands it."""
    carries: Literal["speech", "results"] = "speech"


@dataclass(slots=True, kw_only=True)
class TurnWriter:
    """Writes the turns of one request."""

    dialect: TurnDialect
    options: EncodingOptions
    model: str
    log: RepairLog
    turns: list[Turn] = field(default_factory=list)
    names: DocumentNames = field(default_factory=DocumentNames)
    ids: CallIds = field(init=False)
    _results: list[Part] = field(default_factory=list)
    """Of the calls of the last message of the assistant."""

    def __post_init__(self) -> None:
        self.ids = CallIds(rule=self.dialect.call_ids)

    def system(self, request: NeutralRequest) -> list[Part]:
        """The system parts, each text one."""
        return [part for blocks in request.system for part in self._parts("system", blocks, None)]

    def write(self, request: NeutralRequest) -> None:
        """Write all turns of a request."""
        kept = kept_thinking(request.messages, self._is_replayed)
        for index, message in enumerate(request.messages):
            if message.role == "tool":
                self._add_results(message.blocks, index)
                continue
            self._end_results()
            if message.role == "assistant":
                self._assistant(message.blocks, index, kept)
            else:
                self._user(message.blocks, index)
        self._end_results()
        self._end()

    def _is_replayed(self, block: Thinking) -> bool:
        return self._is_own(block.provider_state) and self.dialect.thinking(block) is not None

    def _is_own(self, state: ProviderState | None) -> bool:
        return (
            state is not None
            and state.driver == self.dialect.driver
            and is_same_model(state.model, self.model)
        )

    def _add(self, turn: Turn, index: int | None) -> None:
        """Add a turn, with what has to stand in front of it."""
        last = self.turns[-1].speaker if self.turns else "assistant"
        if turn.speaker != last:
            self.turns.append(turn)
            return
        if not self.turns:
            self.log.add("placeholder_added", None)
            self.turns.append(self._made("user", EMPTY_MESSAGE_TEXT))
        elif self.dialect.order == "strict":
            self.log.add("bridge_added", index)
            text = BRIDGE_TEXT if last == "user" else CONTINUE_TEXT
            self.turns.append(self._made("assistant" if last == "user" else "user", text))
        self.turns.append(turn)

    def _made(self, speaker: Speaker, text: str) -> Turn:
        return Turn(speaker=speaker, parts=[self.dialect.text(text)], origin="made")

    def _end(self) -> None:
        """The user has the last word: of an answer that is last, not every model goes on."""
        if not self.turns:
            self.log.add("placeholder_added", None)
            self.turns.append(self._made("user", EMPTY_MESSAGE_TEXT))
        elif self.turns[-1].speaker == "assistant":
            self.log.add("last_message_continued", None)
            self.turns.append(self._made("user", CONTINUE_TEXT))

    def _user(self, blocks: Blocks, index: int) -> None:
        parts = self._parts("user", blocks, index)
        if not any(_is_text(part) for part in parts) and (not parts or _has_document(parts)):
            self.log.add("placeholder_added", index)
            parts.append(self.dialect.text(EMPTY_MESSAGE_TEXT))
        self._add(Turn(speaker="user", parts=parts), index)

    def _assistant(self, blocks: Blocks, index: int, kept: frozenset[int]) -> None:
        thought = tuple(
            block for block in blocks if not isinstance(block, Thinking) or index in kept
        )
        if len(thought) < len(blocks):
            self._tell_of_thinking(blocks, index)
        parts = self._parts("assistant", thought, index)
        if parts:
            self._add(Turn(speaker="assistant", parts=parts), index)
        else:
            self.log.add("empty_message_dropped", index)

    def _tell_of_thinking(self, blocks: Blocks, index: int) -> None:
        for block in blocks:
            if isinstance(block, Thinking):
                unsigned = block.provider_state is None
                self.log.add(
                    "unsigned_thinking_dropped" if unsigned else "foreign_thinking_dropped", index
                )

    def _add_results(self, blocks: Blocks, index: int) -> None:
        for block in blocks:
            if isinstance(block, ToolResult):
                self._results += self._result(block, index)

    def _result(self, result: ToolResult, index: int) -> list[Part]:
        parts = self._parts("result", result.output, index)
        if not parts:
            self.log.add("placeholder_added", index, call_id=result.id)
            parts = [self.dialect.text(EMPTY_RESULT_TEXT)]
        return self.dialect.result(result, self.ids.of_result(result.id), parts)

    def _end_results(self) -> None:
        if self._results:
            self.turns.append(Turn(speaker="user", parts=self._results, carries="results"))
            self._results = []

    def _parts(self, place: Place, blocks: Blocks, index: int | None) -> list[Part]:
        parts = (self._part(place, block, index) for block in blocks)
        return [part for part in parts if part is not None]

    def _part(self, place: Place, block: Block, index: int | None) -> Part | None:
        match block:
            case Text():
                return self._text(block, index)
            case Data():
                return self._medium(place, block, index)
            case Thinking():
                return self.dialect.thinking(block)
            case ToolCall():
                return None if index is None else self._call(block, index)
            case ProviderOpaque():
                return self._opaque(place, block, index)
            case ToolResult():
                return None
            case _:
                assert_never(block)

    def _text(self, block: Text, index: int | None) -> Part | None:
        if is_blank(block.text):
            self.log.add("empty_text_dropped", index)
            return None
        extra = self._extra(block.provider_state, index)
        return _with_extra(self.dialect.text(block.text), extra)

    def _extra(
        self, state: ProviderState | None, index: int | None, call_id: str | None = None
    ) -> Part:
        """What the provider had said beside a text or a call."""
        if state is None:
            return {}
        if self._is_own(state) and isinstance(state.data, Mapping):
            # Provider state is JSON, as it came in.
            return cast("Part", dict(state.data))
        self.log.add("foreign_state_dropped", index, call_id=call_id)
        return {}

    def _call(self, call: ToolCall, index: int) -> Part:
        made, arguments = self.ids.of_call(call.id), argument_object(call.input)
        if made != call.id:
            self.log.add("call_id_renamed", index, call_id=call.id)
        if arguments.get(RAW_KEY) == call.input:
            self.log.add("arguments_wrapped", index, call_id=call.id)
        extra = self._extra(call.provider_state, index, call.id)
        return _with_extra(self.dialect.call(made, call.name, arguments), extra)

    def _opaque(self, place: Place, block: ProviderOpaque, index: int | None) -> Part | None:
        is_own = place == "assistant" and block.driver == self.dialect.driver
        if is_own and isinstance(block.payload, dict):
            # Payloads are JSON, as they came in.
            part = self.dialect.own_block(cast("Part", block.payload))
            if part is not None:
                return part
        self.log.add("foreign_block_dropped", index, detail=block.driver)
        return None

    def _medium(self, place: Place, data: Data, index: int | None) -> Part:
        part = None
        if self.options.accepts_data_blocks:
            part = self.dialect.medium(data, place, self.names)
        if part is not None:
            return part
        self.log.add("media_replaced", index, detail=media_type(data) or "file")
        return self.dialect.text(data_line(data))


FAULTS: frozenset[ResultState] = frozenset({"error", "interrupted", "denied"})
"""States of results in which a tool did not do what it was asked for."""


def breakpoints(turns: Sequence[Turn]) -> list[int]:
    """Indexes of the turns behind which a cache may begin, the last two of the user's.

    The last but one is where the request before ended, so its entry is found
    again however many parts the newest turn has.
    """
    heard = [
        index
        for index, turn in enumerate(turns)
        if turn.speaker == "user" and turn.origin == "said"
    ]
    return heard[-2:]


def _with_extra(part: Part, extra: Part) -> Part:
    """A part with what its provider had said beside it; it says nothing of the part itself."""
    beside = {name: value for name, value in extra.items() if name not in (*part, _MARK)}
    return {**part, **beside}


def _is_text(part: Part) -> bool:
    return "text" in part


def _has_document(parts: Sequence[Part]) -> bool:
    return any("document" in part or part.get("type") == "document" for part in parts)
