"""What a context holds by the last report and what came behind it.

Source: docs/semantics/codex.md#active-tokens.
"""

from app.core.local_estimate import old_reasoning_tokens, trailing_tokens
from app.core.policy import Measured
from app.core.user_requests import last_user_request


def active_tokens(measured: Measured) -> int | None:
    """The last total, what came after it, and earlier reasoning; None before a report."""
    last, items = measured.usage.last_total, measured.items
    if last is None:
        return None
    trailing = trailing_tokens(items, measured.phase)
    if last.reasoning_included:
        return last.tokens + trailing
    return last.tokens + trailing + old_reasoning_tokens(items, last_user_request(items))
