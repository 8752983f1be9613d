"""The watermark: up to where old tool results are pruned, and when it moves on.

Source: docs/semantics/compaction.md#the-watermark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.items import Item
from app.core.messages import Real


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunePlan:
    """A move of the watermark that shortens at least one result."""

    through_sequence: int
    """The new watermark."""
    tool_result_ids: tuple[str, ...]
    """Call ids of the results that become prunable, in stored order."""


def plan_prune(items: Sequence[Item], current: int | None, limit_chars: int) -> PrunePlan | None:
    """The move to the latest stored assistant message, or None where it prunes nothing.

    Results of the latest model response stand behind that message and stay
    whole. Live and synthetic items are ignored.

    Args:
        items: The conversation, in order.
        current: The watermark so far; None before the first move.
        limit_chars: Code points up to which a result stays whole.
    """
    stored = [(sequence, item) for item in items if (sequence := _sequence(item)) is not None]
    through = max((sequence for sequence, item in stored if item.role == "assistant"), default=None)
    if through is None:
        return None
    result_ids = tuple(
        result.id
        for sequence, item in stored
        if item.role == "tool" and (current or 0) < sequence <= through
        for result in item.facts.results
        if result.joined_chars > limit_chars
    )
    if not result_ids:
        return None
    return PrunePlan(through_sequence=through, tool_result_ids=result_ids)


def _sequence(item: Item) -> int | None:
    return item.source.sequence if isinstance(item.source, Real) else None
