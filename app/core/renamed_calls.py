"""Calls that share an id get one each, in the request alone.

Some models give two calls of an answer the same id, and some use an id again
while its first call is still open. What is stored keeps the model's ids.

Source: docs/semantics/request-copy.md#renamed-calls.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from app.core.blocks import Block, ToolCall, ToolResult
from app.core.content import decode_content
from app.core.facts import CallFact, ResultFact, form_of
from app.core.items import Item, message_id
from app.core.request_copy import MemoKey, Repair, RequestCopy, Rewrite, StepContext


def rename_calls(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with an id of its own for every call that is open, where the policy asks for it.

    The first of two calls keeps the id and gets the first result, the second
    one the next. What stands in front alone decides, so a longer
    conversation names no call otherwise.
    """
    if context.shaping.duplicate_call_ids == "refuse":
        return copy
    names = _Names()
    rewrites: dict[int, Rewrite] = {}
    repairs: list[Repair] = []
    for index, item in enumerate(copy.items):
        renamed = names.of(item)
        if not any(given != own for own, given in renamed):
            continue
        rewrites[index] = _rewrite(item, renamed, context)
        repairs += [
            Repair(
                code="call_id_renamed",
                item_index=copy.origin(index),
                message_id=message_id(item),
                call_id=own,
            )
            for own, given in renamed
            if given != own and item.role == "assistant"
        ]
    if not rewrites:
        return copy
    rewritten = copy.with_rewrites(rewrites)
    return replace(rewritten, repairs=(*rewritten.repairs, *repairs))


@dataclass(slots=True, kw_only=True)
class _OpenName:
    """The name of a call that has no final result yet."""

    given: str
    waits: bool


@dataclass(slots=True)
class _Names:
    """The names of the calls of a conversation, while it is walked through."""

    _open: dict[str, list[_OpenName]] = field(default_factory=dict)
    """Of the calls of an id, in order."""
    _met: set[str] = field(default_factory=set)
    """Every id and every name so far."""

    def of(self, item: Item) -> list[tuple[str, str]]:
        """Own and given id of each call or result of the next item, in order."""
        if item.role == "tool":
            return [(result.id, self._of_result(result)) for result in item.facts.results]
        self._end_run()
        return [(call.id, self._of_call(call)) for call in item.facts.calls]

    def _end_run(self) -> None:
        """Calls that do not wait are answered right behind them, or not at all."""
        for own, names in self._open.items():
            self._open[own] = [name for name in names if name.waits]

    def _of_call(self, call: CallFact) -> str:
        is_open = any(name.given == call.id for name in self._all_open())
        given = self._free(call.id) if is_open else call.id
        self._met |= {call.id, given}
        name = _OpenName(given=given, waits=call.state != "finished")
        self._open.setdefault(call.id, []).append(name)
        return given

    def _all_open(self) -> Iterable[_OpenName]:
        return (name for names in self._open.values() for name in names)

    def _free(self, call_id: str) -> str:
        number = 2
        while (given := f"{call_id}~{number}") in self._met:
            number += 1
        return given

    def _of_result(self, result: ResultFact) -> str:
        names = self._open.get(result.id)
        if not names:
            return result.id
        if result.state == "running":
            names[0].waits = True
            return names[0].given
        return names.pop(0).given


def _rewrite(item: Item, renamed: list[tuple[str, str]], context: StepContext) -> Rewrite:
    given = tuple(name for _, name in renamed)
    key: MemoKey = ("renamed", item.facts.element_sha256, context.counter.basis, *given)
    known = context.memo.get(key)
    if known is None:
        names = iter(given)
        blocks = tuple(_named(block, names) for block in decode_content(item.content))
        known = Rewrite(form=form_of(item.role, blocks, context.counter))
        context.memo[key] = known
    return known


def _named(block: Block, names: Iterable[str]) -> Block:
    if isinstance(block, ToolCall | ToolResult):
        return replace(block, id=next(iter(names)))
    return block
