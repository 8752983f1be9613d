"""A prefix that is too large by itself: no compaction helps, so none is asked for.

Source: docs/policies.md#when-nothing-helps.
"""

from dataclasses import replace

from app.core.limits import Decision


def blocked_by_prefix(decision: Decision, fixed_tokens: int) -> Decision:
    """The decision, or `blocked` where system parts and tools alone reach the line."""
    line = decision.line_tokens
    if decision.action != "compact" or line is None or fixed_tokens < line:
        return decision
    detail = f"system parts and tools alone take {fixed_tokens} tokens of the line of {line}"
    return replace(decision, action="blocked", reason="cannot_fit", detail=detail)


def blocked_by_window(decision: Decision, fixed_tokens: int, window_tokens: int | None) -> Decision:
    """The decision, or `blocked` where system parts and tools alone fill the window.

    For lines that speak of the conversation, or of what was reported of it: a
    prefix that is over them may still be sent, and one that cannot be sent is
    so by every counter.
    """
    if decision.action != "compact" or window_tokens is None or fixed_tokens < window_tokens:
        return decision
    detail = f"system parts and tools alone take {fixed_tokens} tokens of {window_tokens}"
    return replace(decision, action="blocked", reason="cannot_fit", detail=detail)
