"""Tokens as people read them: three digits at most, and a share of the window.

Source: docs/semantics/budget.md#display.
"""

_UNITS = ((1_000_000, "m"), (1_000, "k"))


def display_tokens(tokens: int) -> str:
    """A number of tokens; one decimal below ten of a unit, none above.

    >>> display_tokens(999), display_tokens(1_500), display_tokens(600_000), display_tokens(10**6)
    ('999', '1.5k', '600k', '1m')
    """
    for size, unit in _UNITS:
        # What rounds to a thousand of a unit is one of the next.
        if tokens >= size - size // 2_000:
            return f"{_rounded(tokens, size)}{unit}"
    return str(tokens)


def display_share(part: int, whole: int) -> str:
    """`part` of `whole` in percent; one decimal below ten, none above.

    >>> display_share(561_000, 1_000_000), display_share(5_000, 1_000_000)
    ('56%', '0.5%')
    """
    return f"{_rounded(part * 100, whole)}%"


def display_usage(used: int, window: int) -> str:
    """What is used of a window.

    >>> display_usage(600_000, 1_000_000)
    '600k / 1m (60%)'
    """
    return f"{display_tokens(used)} / {display_tokens(window)} ({display_share(used, window)})"


def _rounded(amount: int, size: int) -> str:
    """`amount` in units of `size`, halves rounded up."""
    tenths = (20 * amount + size) // (2 * size)
    if tenths >= 100:
        return str((2 * amount + size) // (2 * size))
    whole, tenth = divmod(tenths, 10)
    return f"{whole}.{tenth}" if tenth else str(whole)
