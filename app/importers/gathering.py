"""Messages of a transcript gathered in order, so that an append takes them as they are.

Source: docs/semantics/importers.md#messages.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from hashlib import sha256
from html import escape
from itertools import groupby
from typing import Literal, TypeAlias

from app.core import canonical
from app.core.agent import SystemPart, Tool
from app.core.blocks import (
    Block,
    Blocks,
    ProviderOpaque,
    ProviderState,
    ToolCall,
    ToolResult,
    text_block,
)
from app.core.messages import Role
from app.importers.transcript import (
    Imported,
    ImportedMessage,
    ImportRepair,
    ImportRepairCode,
    SkipCode,
    Skipped,
)

Readers: TypeAlias = Literal["everybody", "model"]

MADE_ID_LETTERS = 24
"""Of an id for a call that has none, as in answers of providers."""


@dataclass(slots=True, kw_only=True)
class _Entry:
    """A message while it is read."""

    role: Role
    blocks: list[Block]
    readers: Readers


@dataclass(slots=True, kw_only=True)
class Gathering:
    """What has been read of a transcript. Everything is written left to right."""

    readers: Readers = "everybody"
    """Of the user messages that come next."""
    tools: list[Tool] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _parts: list[SystemPart] = field(default_factory=list)
    _entries: list["_Entry"] = field(default_factory=list)
    _repairs: dict[ImportRepair, None] = field(default_factory=dict)
    _keyed: dict[str, int] = field(default_factory=dict)
    """Where the assistant messages are that come in pieces."""
    _open: dict[str, ToolCall] = field(default_factory=dict)
    """Calls without a result, by their imported ids."""
    _waiting: dict[str, deque[str]] = field(default_factory=dict)
    """Imported ids by the ids of the transcript, in the order of the calls."""
    _named: dict[str, deque[str]] = field(default_factory=dict)
    """Imported ids by the names of the tools, in the order of the calls."""
    _hidden: list[tuple[int, Set[Role]]] = field(default_factory=list)
    """How many messages stand in front of each summary, and the roles of them that it replaced."""
    _calls: int = 0

    def system(self, blocks: Blocks, role: str = "system") -> None:
        """A system message: in front a part of the system context, else framed at its place."""
        if not blocks:
            self.repair("empty_message_dropped", detail=role)
        elif self._entries:
            self.repair("system_message_framed", detail=role)
            self._add("user", _framed("system_message", blocks))
        else:
            self._parts.append(SystemPart(key=f"imported/{len(self._parts)}", content=blocks))

    def user(self, blocks: Blocks) -> None:
        """A user message; one without a block is left out."""
        if blocks:
            self._add("user", blocks, self.readers)
        else:
            self.repair("empty_message_dropped", detail="user")

    def given(self, blocks: Blocks) -> None:
        """What a model was given: results as tool messages, what stands between as the user's."""
        if not blocks:
            self.user(())
        for is_results, group in groupby(blocks, key=lambda each: isinstance(each, ToolResult)):
            if is_results:
                self.results([each for each in group if isinstance(each, ToolResult)])
            else:
                self.user(tuple(group))

    def assistant(self, blocks: Blocks, key: str | None = None) -> None:
        """An assistant message, or a further piece of the one that has this key."""
        at = None if key is None else self._keyed.get(key)
        if at is None:
            at = len(self._entries)
            self._add("assistant", ())
            if key is not None:
                self._keyed[key] = at
        self._put(at, blocks)

    def extend(self, blocks: Blocks) -> None:
        """Further blocks of the last message where it is the assistant's, else a new one."""
        shown_from = self._hidden[-1][0] if self._hidden else 0
        is_fresh = len(self._entries) == shown_from
        if is_fresh or self._entries[-1].role != "assistant":
            self._add("assistant", ())
        self._put(len(self._entries) - 1, blocks)

    def results(self, results: Iterable[ToolResult]) -> None:
        """One tool message; results whose calls are not open are framed behind it."""
        paired: list[Block] = []
        orphans: list[ToolResult] = []
        for result in results:
            call_id = self._answered(result)
            if call_id is None:
                orphans.append(result)
            else:
                paired.append(replace(result, id=call_id))
        if paired:
            self._add("tool", paired)
        for orphan in orphans:
            self.repair("orphan_result_framed", call_id=orphan.id or None, detail=orphan.name)
            self._add("user", _framed("tool_result", orphan.output, _named(orphan)))

    def repair(
        self,
        code: ImportRepairCode,
        *,
        call_id: str | None = None,
        detail: str | None = None,
    ) -> None:
        """Tell a repair of the message that comes next."""
        self._tell(code, len(self._entries), call_id, detail)

    def about_all(self, code: ImportRepairCode, detail: str | None = None) -> None:
        """Tell a repair that is about no message."""
        self._tell(code, None, None, detail)

    def opaque(self, driver: str, kind: str, payload: Mapping[str, object]) -> ProviderOpaque:
        """A block of a sort that is not known here, kept as it is for its provider."""
        self.repair("block_kept_opaque", detail=kind)
        return ProviderOpaque(
            type="provider_opaque", driver=driver, kind=kind, payload=dict(payload)
        )

    def state(
        self, driver: str, model: str | None, data: Mapping[str, object], sort: str
    ) -> ProviderState | None:
        """State for the model that made it; where nobody names the model, it is left out."""
        if not data:
            return None
        if model is None:
            self.repair("state_left_out", detail=sort)
            return None
        return ProviderState(driver=driver, model=model, data=dict(data))

    def settings(self, body: Mapping[str, object], known: Set[str]) -> None:
        """Tell the fields of a body which are neither read nor a part of a conversation."""
        for name, value in body.items():
            if name not in known and value is not None:
                self.about_all("setting_left_out", name)

    def left_out(self, value: Mapping[str, object], known: Set[str]) -> None:
        """Tell the fields of the message that comes next which have no place here."""
        for name, given in value.items():
            if name not in known and given is not None:
                self.repair("field_left_out", detail=name)

    def skip(self, line: int, code: SkipCode) -> None:
        """Tell a line that takes no part."""
        self.skipped.append(Skipped(line=line, code=code))

    def hide(self, roles: Set[Role]) -> None:
        """Hide from the model what has been read of these roles: a summary took its place."""
        self._hidden.append((len(self._entries), roles))

    def told(self) -> int:
        """How many repairs have been told."""
        return len(self._repairs)

    def forget(self, told: int) -> None:
        """Take back the repairs behind the first ones."""
        while len(self._repairs) > told:
            self._repairs.popitem()

    def imported(self) -> Imported:
        """Everything that was gathered."""
        return Imported(
            system_parts=tuple(self._parts),
            tools=tuple(self.tools),
            messages=self._messages(),
            repairs=tuple(self._repairs),
            skipped=tuple(self.skipped),
        )

    def _messages(self) -> tuple[ImportedMessage, ...]:
        # From behind, so that each message meets every summary behind it once.
        messages: list[ImportedMessage] = []
        summaries, replaced = list(self._hidden), set[Role]()
        for at in range(len(self._entries) - 1, -1, -1):
            while summaries and summaries[-1][0] > at:
                replaced |= summaries.pop()[1]
            entry = self._entries[at]
            messages.append(
                ImportedMessage(
                    role=entry.role,
                    blocks=tuple(entry.blocks),
                    agent_visible=entry.role not in replaced,
                    user_visible=entry.readers == "everybody",
                )
            )
        return tuple(reversed(messages))

    def _tell(
        self, code: ImportRepairCode, at: int | None, call_id: str | None, detail: str | None
    ) -> None:
        repair = ImportRepair(code=code, message_index=at, call_id=call_id, detail=detail)
        self._repairs[repair] = None

    def _add(self, role: Role, blocks: Iterable[Block], readers: Readers = "everybody") -> None:
        self._entries.append(_Entry(role=role, blocks=list(blocks), readers=readers))

    def _put(self, at: int, blocks: Blocks) -> None:
        for block in blocks:
            opened = self._opened(block, at) if isinstance(block, ToolCall) else block
            self._entries[at].blocks.append(opened)

    def _opened(self, call: ToolCall, at: int) -> ToolCall:
        """The call under an id that no open call has."""
        self._calls += 1
        known, made = call.id, call.id
        attempt = 0
        while not made or made in self._open:
            made = _made_id(call, self._calls, attempt)
            attempt += 1
        if not known:
            self._tell("call_id_made", at, made, call.name)
        elif made != known:
            self._tell("call_id_renamed", at, made, known)
        opened = replace(call, id=made)
        self._open[made] = opened
        if known:
            self._waiting.setdefault(known, deque()).append(made)
        self._named.setdefault(call.name, deque()).append(made)
        return opened

    def _answered(self, result: ToolResult) -> str | None:
        """The call that a result answers, which is closed; None where there is none."""
        by_name = not result.id
        queue = self._named.get(result.name or "") if by_name else self._waiting.get(result.id)
        while queue:
            call_id = queue.popleft()
            if self._open.pop(call_id, None) is not None:
                if by_name:
                    self.repair("result_paired_by_name", call_id=call_id, detail=result.name)
                return call_id
        return None


def _framed(tag: str, blocks: Blocks, attributes: str = "") -> Blocks:
    return (text_block(f"<{tag}{attributes}>"), *blocks, text_block(f"</{tag}>"))


def _named(result: ToolResult) -> str:
    """What a result says of itself, as attributes of its frame."""
    said = {"id": result.id, "name": result.name, "state": result.state}
    return "".join(
        f' {name}="{escape(value)}"' for name, value in said.items() if value and value != "success"
    )


def _made_id(call: ToolCall, number: int, attempt: int) -> str:
    digest = sha256(canonical.encode([number, attempt, call.name, call.input])).hexdigest()
    return f"call_{digest[:MADE_ID_LETTERS]}"
