"""Whether provider state that a model left may go back to the model that is asked.

Source: docs/semantics/encoders.md#provider-state.
"""

import re

_DATED = re.compile(
    r"(?P<name>.+)-(?:20[0-9]{2}-[01][0-9]-[0-3][0-9]|20[0-9]{2}[01][0-9][0-3][0-9])", re.DOTALL
)
"""A name with the day of its release, as Anthropic and OpenAI write it."""


def is_same_model(left: str, right: str) -> bool:
    """True for equal names, and for a name beside itself with the day of its release.

    An alias without a day is answered under the name with one. Two different
    days are two models.

    >>> is_same_model("claude-sonnet-4-5", "claude-sonnet-4-5-20250929")
    True
    """
    return left == right or _undated(left) == right or left == _undated(right)


def _undated(name: str) -> str | None:
    found = _DATED.fullmatch(name)
    return None if found is None else found["name"]
