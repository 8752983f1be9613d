"""Trimming: the newest messages of a request, by their number or by their tokens.

A trim is of one request: the session keeps every message. It never takes a
system message, nor one that is pinned.

Source: docs/semantics/awaken.md#trimming.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from app.core.counting import TokenCounter
from app.core.items import Item, message_id
from app.core.messages import Synthetic
from app.core.tool_rounds import clean_tool_rounds, round_bounds

Measure: TypeAlias = Callable[[Item], int]
"""Tokens of an item, 0 and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimming:
    """What of a conversation a request shows. Both limits hold where both are set."""

    keep_last: int | None = None
    """So many messages beside those that always stay, 0 and more. None: all."""
    keep_tokens: int | None = None
    """The newest whole rounds, together with what always stays, within so many tokens."""
    least_recent: int = 0
    """So many of the newest messages outlive `keep_tokens`, in whole rounds, whatever they take."""
    pinned: frozenset[str] = frozenset()
    """Ids of messages that stay, with the rest of their tool rounds; they are not counted among
    the last."""


KEEP_ALL = Trimming()


def trim(
    items: Sequence[Item], trimming: Trimming, measure: Measure, counter: TokenCounter
) -> tuple[Item, ...]:
    """The items that stay, in order, with their tool rounds cleaned.

    The limits are hard: none is widened to save a tool round, so fewer
    messages may stay than a limit allows. A second trim changes nothing.

    Args:
        items: Of a request.
        trimming: What stays.
        measure: Asked of `keep_tokens` only.
        counter: Counts the messages that change.
    """
    kept = kept_indexes(items, trimming, measure)
    return clean_tool_rounds([items[index] for index in kept], counter)


def kept_indexes(items: Sequence[Item], trimming: Trimming, measure: Measure) -> list[int]:
    """The positions of the items that stay, in order, whole rounds or not."""
    always = always_kept(items, trimming.pinned)
    kept = set(range(len(items)))
    if trimming.keep_last is not None:
        kept &= always | _newest(items, always, trimming.keep_last)
    if trimming.keep_tokens is not None:
        kept &= always | _within(
            items, always, trimming.keep_tokens, trimming.least_recent, measure
        )
    return sorted(kept)


def always_kept(items: Sequence[Item], pinned: Set[str]) -> set[int]:
    """Indexes of what no limit takes.

    That is system messages, what tells of the workspace, what stands for a
    fold, and the pinned messages with the rest of their rounds.
    """
    context = {index for index, item in enumerate(items) if _is_context(item)}
    return context | pinned_indexes(items, pinned)


def pinned_indexes(items: Sequence[Item], pinned: Set[str]) -> set[int]:
    """Indexes of the pinned messages and of the rest of their tool rounds."""
    return {
        index
        for start, end in round_bounds(items)
        if _is_pinned(items[start:end], pinned)
        for index in range(start, end)
    }


def _is_pinned(unit: Sequence[Item], pinned: Set[str]) -> bool:
    """Whether a pin holds a unit; one on a result that answers nothing goes with that result."""
    called = {call.id for call in unit[0].facts.calls}
    for item in unit:
        answered = {result.id for result in item.facts.results} & called
        called -= answered
        if message_id(item) in pinned and (item.role != "tool" or answered):
            return True
    return False


def _is_context(item: Item) -> bool:
    is_made = isinstance(item.source, Synthetic)
    return item.role == "system" or item.kind == "world_state" or is_made


def _newest(items: Sequence[Item], always: Set[int], count: int) -> set[int]:
    """Indexes of the last messages that do not stay anyway."""
    others = [index for index in range(len(items)) if index not in always]
    return set(others[max(0, len(others) - count) :])


def _within(
    items: Sequence[Item], always: Set[int], budget_tokens: int, least: int, measure: Measure
) -> set[int]:
    """Indexes of the newest units that fit beside what stays anyway, or are among the least.

    The first unit that is neither ends them, so that they have no gap.
    """
    left = budget_tokens - sum(measure(items[index]) for index in always)
    fitting: set[int] = set()
    for start, end in reversed(list(round_bounds(items))):
        unit = [index for index in range(start, end) if index not in always]
        left -= sum(measure(items[index]) for index in unit)
        if left < 0 and len(fitting) >= least:
            break
        fitting.update(unit)
    return fitting
