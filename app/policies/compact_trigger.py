"""When a compaction is due, and when its summary is worth beginning before that.

Source: docs/semantics/awaken.md#the-triggers.
"""

from dataclasses import dataclass

from app.core.due import NOT_DUE, Due, Urgency
from app.policies.compact_config import CompactConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSize:
    """How large a conversation is, by both measures."""

    messages: int
    """All of them, system and tool messages included."""
    estimated_tokens: int
    """Of `app.core.text_estimate`."""


def due(config: CompactConfig, size: ConversationSize) -> Due:
    """What a conversation of that size needs; nothing where the kept tail is all of it."""
    fold_to = size.messages - config.keep_last
    urgency = _urgency(config, size)
    if fold_to <= 0 or urgency == "not_due":
        return NOT_DUE
    return Due(urgency=urgency, fold_to=fold_to)


def _urgency(config: CompactConfig, size: ConversationSize) -> Urgency:
    if config.max_tokens is None:
        # The count is strict, softly as well as hard.
        if size.messages > config.threshold:
            return "hard"
        return "soft" if size.messages > config.threshold * config.prefetch_ratio else "not_due"
    # The order of the factors is Awaken's: another one gives other floats.
    line = config.trigger_ratio * config.max_tokens
    if size.estimated_tokens >= line:
        return "hard"
    return "soft" if size.estimated_tokens >= line * config.prefetch_ratio else "not_due"
