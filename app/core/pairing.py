"""Which result answers which tool call.

A call arms its id and a later call of the same id takes it over, so an id
that a provider uses again in a later turn is no conflict. Only the run of
tool messages directly behind a call may answer it, unless the call is
waiting: then its final result counts wherever it is stored.

Source: docs/semantics/request-copy.md#pairing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.core.blocks import ResultState
from app.core.facts import CallFact
from app.core.items import Item
from app.core.request_copy import RepairCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A stored result that names an armed call."""

    item_index: int
    result_index: int
    state: ResultState
    adjacent: bool

    @property
    def is_final(self) -> bool:
        """Whether no later result can replace it."""
        return self.state != "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A stored result that the request does not carry."""

    item_index: int
    call_id: str
    has_call: bool
    """Whether a call of that id stands in front of it."""
    code: RepairCode


@dataclass(slots=True)
class Slot:
    """A tool call and the results that name it, in stored order."""

    call: CallFact
    offers: list[Offer] = field(default_factory=list)

    @property
    def is_waiting(self) -> bool:
        """Whether the call is still running as far as the conversation tells."""
        if self.call.state != "finished":
            return True
        # A final result closes its call, so a `running` one behind it opens nothing again.
        return bool(self.offers) and not self.offers[0].is_final

    def answer(self) -> Offer | None:
        """The result that takes the call's place, or None where one must be made."""
        if not self.is_waiting:
            return self._first_adjacent()
        final = next((offer for offer in self.offers if offer.is_final), None)
        return final or next(iter(self.offers), None)

    def _first_adjacent(self) -> Offer | None:
        return next((offer for offer in self.offers if offer.adjacent), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The slots of every assistant item with calls, and the results left over."""

    slots: dict[int, tuple[Slot, ...]]
    taken: frozenset[int]
    """Indexes of the tool items that answer a call."""
    dropped: tuple[Dropped, ...]


def pair(items: Sequence[Item]) -> Pairing:
    """The pairing of `items`, by one ordered walk."""
    slots: dict[int, tuple[Slot, ...]] = {}
    armed: dict[str, Slot] = {}
    run: dict[str, Slot] = {}
    dropped: list[Dropped] = []
    for index, item in enumerate(items):
        if item.role == "tool":
            for number, result in enumerate(item.facts.results):
                slot = armed.get(result.id)
                if slot is None:
                    dropped.append(_orphan(index, result.id))
                    continue
                slot.offers.append(
                    Offer(
                        item_index=index,
                        result_index=number,
                        state=result.state,
                        adjacent=run.get(result.id) is slot,
                    )
                )
            continue
        run = {}
        if item.role == "assistant" and item.facts.calls:
            slots[index] = tuple(Slot(call) for call in item.facts.calls)
            for slot in slots[index]:
                # Of two calls with one id in a message, the first gets the results.
                run.setdefault(slot.call.id, slot)
            armed.update(run)
    taken: set[int] = set()
    for slot in (slot for group in slots.values() for slot in group):
        answer = slot.answer()
        if answer is not None:
            taken.add(answer.item_index)
        dropped += _left_over(slot, answer)
    return Pairing(
        slots=slots,
        taken=frozenset(taken),
        dropped=tuple(sorted(dropped, key=lambda left: left.item_index)),
    )


def called_names(items: Sequence[Item]) -> dict[tuple[int, int], str]:
    """The names of the calls that are answered, by index of the item and of the result in it."""
    return {
        (answer.item_index, answer.result_index): slot.call.name
        for group in pair(items).slots.values()
        for slot in group
        if (answer := slot.answer()) is not None
    }


def _left_over(slot: Slot, answer: Offer | None) -> list[Dropped]:
    duplicate = slot.is_waiting
    return [
        Dropped(
            item_index=offer.item_index,
            call_id=slot.call.id,
            has_call=True,
            code="duplicate_tool_result_dropped"
            if duplicate or offer.adjacent
            else "orphan_tool_result_dropped",
        )
        for offer in slot.offers
        if offer is not answer
    ]


def _orphan(index: int, call_id: str) -> Dropped:
    return Dropped(
        item_index=index, call_id=call_id, has_call=False, code="orphan_tool_result_dropped"
    )
