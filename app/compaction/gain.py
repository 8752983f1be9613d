"""The gain of a fold: what it takes away that an earlier one did not.

Source: docs/semantics/compaction.md#the-gain.
"""

from collections.abc import Sequence

from app.compaction.errors import NothingToCompact
from app.compaction.fold import FoldPlan
from app.core.counting import tokens_of_bytes
from app.core.items import Item
from app.core.limits import Relief
from app.core.messages import Real


def fold_gain(items: Sequence[Item], fold: FoldPlan) -> int:
    """Tokens of the stored messages that a fold takes away, by JSON bytes.

    The request that it preserves is shown again, and what stands for an
    earlier fold makes room for its like; neither is a gain.
    """
    gone = [
        item.facts.json_bytes
        for index, item in enumerate(items[: fold.keep_from])
        if index != fold.anchor_index and isinstance(item.source, Real)
    ]
    return tokens_of_bytes(sum(gone))


def refuse_small_gain(items: Sequence[Item], fold: FoldPlan, relief: Relief) -> None:
    """Refuse a fold that brings less than it must, so that none follows another for nothing.

    Raises:
        NothingToCompact: It would take away too little.
    """
    gain = fold_gain(items, fold)
    if gain < relief.min_gain_tokens:
        raise NothingToCompact(
            f"a fold would take away {gain} tokens, fewer than the {relief.min_gain_tokens} "
            "that make one worth it"
        )
