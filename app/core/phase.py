"""Phases: whether a call begins a turn or goes on with one.

Source: docs/semantics/usage.md#phase.
"""

from collections.abc import Sequence

from app.core.items import Item
from app.core.limits import Phase
from app.core.user_requests import is_user_request


def phase_of(items: Sequence[Item], model_call: int | None) -> Phase:
    """The phase of the call after `items`.

    Args:
        items: The conversation as it is shown.
        model_call: The call's number in its turn, from 1; None where the caller does not say, and
            the conversation tells: what the model said or asked for stands behind the last user
            request in the middle of a turn only.
    """
    if model_call is not None:
        return "pre_turn" if model_call <= 1 else "mid_turn"
    for item in reversed(items):
        if item.role in ("assistant", "tool"):
            return "mid_turn"
        if is_user_request(item):
            return "pre_turn"
    return "pre_turn"
