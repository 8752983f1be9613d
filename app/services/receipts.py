"""Receipts: what a compaction took away, by the same counter before and after.

Source: docs/semantics/compaction.md#receipts.
"""

from collections.abc import Mapping, Sequence

from app.core.counting import tokens_of_bytes
from app.core.items import Item


def conversation_tokens(items: Sequence[Item]) -> dict[str, int]:
    """Tokens of items as they are, by every counter: not pruned, projected or paired."""
    return {
        "json_bytes": tokens_of_bytes(sum(item.facts.json_bytes for item in items)),
        "tokenizer": sum(item.facts.tokenizer_tokens for item in items),
    }


def receipt(
    before: Sequence[Item], after: Sequence[Item], usage: Mapping[str, object] | None
) -> dict[str, object]:
    """Tokens of the conversation before and after, and what a model took to say it shorter.

    System context and tool surface are not touched by a compaction, so the
    conversation is the only region that has a difference.
    """
    counts = {
        counter: _difference(tokens, conversation_tokens(after)[counter])
        for counter, tokens in conversation_tokens(before).items()
    }
    answer: dict[str, object] = {**counts["json_bytes"], "counter": "json_bytes", **counts}
    return answer if usage is None else {**answer, "usage": dict(usage)}


def _difference(before: int, after: int) -> dict[str, object]:
    return {"before": before, "after": after, "reclaimed": max(0, before - after)}
