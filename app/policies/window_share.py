"""A share of the window as the line: what goose compares before it answers.

Source: docs/semantics/goose.md#when-a-compaction-is-due.
"""

from math import isnan

DEFAULT_THRESHOLD = 0.8
"""goose's share of a model's context limit."""


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
