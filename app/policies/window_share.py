"""A share of the window as the line: what goose compares before it answers.

Source: docs/semantics/goose.md#when-a-compaction-is-due.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from app.core.chat_count import separate_tokens
from app.core.counting import TokenCounter
from app.core.items import Item

DEFAULT_THRESHOLD = 0.8
"""goose's share of a model's context limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareCheck:
    """What decides whether a context is compacted before the next call."""

    tokens: int
    """Of the context: what the latest call reported, or an estimate."""
    limit_tokens: int
    """The model's window."""
    threshold: float
    owns_context: bool = False
    """Whether the provider keeps the context within its limits itself."""

    @property
    def is_due(self) -> bool:
        """Whether a compaction has to come first."""
        return not self.owns_context and exceeds_share(
            self.tokens, self.limit_tokens, self.threshold
        )


def threshold_in_force(override: float | None, configured: str | float | None) -> float:
    """The override, else the configured share, else the default: also for text that is no number.

    >>> threshold_in_force(None, "0.5"), threshold_in_force(None, "half")
    (0.5, 0.8)
    """
    if override is not None:
        return override
    try:
        return DEFAULT_THRESHOLD if configured is None else float(configured)
    except ValueError:
        return DEFAULT_THRESHOLD


def is_switched_on(threshold: float) -> bool:
    """Whether a threshold compacts at all: one between 0 and 1, both left out."""
    return 0 < threshold < 1


def exceeds_share(tokens: int, limit_tokens: int, threshold: float) -> bool:
    """Whether the tokens are more than that share of the limit; at the share they are not.

    A limit of 0 is exceeded by any token, and by none it is not.

    >>> exceeds_share(800, 1_000, 0.8), exceeds_share(801, 1_000, 0.8)
    (False, True)
    """
    if isnan(threshold) or not is_switched_on(threshold):
        return False
    return tokens > 0 if limit_tokens == 0 else tokens / limit_tokens > threshold


def first_over(limit_tokens: int, threshold: float) -> int:
    """The smallest number of tokens that exceeds a share that is switched on.

    >>> first_over(128_000, 0.8), first_over(1_000, 0.8)
    (102401, 801)
    """
    tokens = int(limit_tokens * threshold)
    # The quotient decides, and it may round the other way than the product.
    while not exceeds_share(tokens, limit_tokens, threshold):
        tokens += 1
    while tokens > 0 and exceeds_share(tokens - 1, limit_tokens, threshold):
        tokens -= 1
    return tokens


def context_tokens(
    latest_total: int | None, agents_view: Sequence[Item], counter: TokenCounter
) -> int:
    """The total of the latest call, 0 included; without one the messages, each counted alone.

    Prompt and tools are in a provider's total, and not in the estimate. The
    sum over all calls is for billing and is never looked at.
    """
    return separate_tokens(agents_view, counter) if latest_total is None else latest_total
