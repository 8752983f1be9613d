"""Middle out: tool results leave a summary request from the middle of the history outwards.

What was asked first and what was done last tell most, so both ends stay
longest. Only the request is smaller: no history loses anything.

Source: docs/semantics/goose.md#the-removal-ladder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core.items import Item

MiddleOut: TypeAlias = Literal["centered", "legacy"]
"""`legacy` never reaches the last result of an odd number of them, as older releases of goose."""

REMOVED_PERCENTS = (0, 10, 20, 50, 100)
"""Of the messages with tool results, by level; from the second level on at least one goes."""

Failure: TypeAlias = Literal["context_overflow", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderEnd:
    """There is no further level, and why."""

    reason: Literal["everything_removed", "nothing_to_remove", "other_failure"]


def next_level(
    failure: Failure, level: int, result_messages: int, order: MiddleOut
) -> int | LadderEnd:
    """The level to ask at after the request of a level failed.

    Only an overflow is answered with a smaller request. Levels of few results
    may send the same request again.

    Args:
        failure: What the provider said.
        level: The index in `REMOVED_PERCENTS` of the request that failed.
        result_messages: Messages with tool results, nothing removed yet.
        order: With `centered` nothing to remove is found out at once.
    """
    if failure != "context_overflow":
        return LadderEnd(reason="other_failure")
    if order == "centered" and result_messages == 0:
        return LadderEnd(reason="nothing_to_remove")
    if level + 1 >= len(REMOVED_PERCENTS):
        return LadderEnd(reason="everything_removed")
    return level + 1


def without_results(
    items: Sequence[Item], level: int, order: MiddleOut
) -> tuple[tuple[Item, ...], tuple[int, ...]]:
    """The items of a level, and the indexes of those that went, in order of removal.

    A message with a result goes whole, and the message of its call stays.
    """
    holding = [index for index, item in enumerate(items) if item.facts.results]
    gone = tuple(
        holding[position]
        for position in removed_positions(len(holding), REMOVED_PERCENTS[level], order)
    )
    return tuple(item for index, item in enumerate(items) if index not in set(gone)), gone


def removed_positions(count: int, percent: int, order: MiddleOut) -> tuple[int, ...]:
    """Which of so many results go at a percentage, from the first that goes.

    >>> removed_positions(10, 50, "centered"), removed_positions(3, 10, "legacy")
    ((4, 5, 3, 6, 2), (0,))
    """
    if percent == 0 or count == 0:
        return ()
    taken = max(count * percent // 100, 1)
    if order == "legacy":
        return _legacy_positions(count, taken)
    # Twice the distance from the center (count - 1) / 2, so that it stays a whole number.
    positions = sorted(range(count), key=lambda position: (abs(2 * position - count + 1), position))
    return tuple(positions[:taken])


def _legacy_positions(count: int, taken: int) -> tuple[int, ...]:
    """Left and right of the middle in turns; a pick beyond an end is lost."""
    middle = count // 2
    picks = (
        middle - pick // 2 - 1 if pick % 2 == 0 else middle + pick // 2 for pick in range(taken)
    )
    return tuple(pick for pick in picks if 0 <= pick < count)
