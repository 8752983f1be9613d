"""One line for input and output reserve together: at it, compact first.

Source: docs/semantics/budget.md#decision.
"""

from app.core.limits import Decision, Limits


def decide_by_line(input_tokens: int, limits: Limits) -> Decision:
    """Compact at or over the line; submit under it, or where no window is known."""
    measured = input_tokens + limits.reserved_output_tokens
    line = limits.line_tokens
    if line is None:
        return Decision(
            action="submit",
            reason="unknown_window",
            input_tokens=input_tokens,
            measured_tokens=measured,
            line_tokens=None,
            remaining_tokens=None,
            detail="the model's window is unknown, so nothing can be compared with it",
        )
    comparison = (
        f"input {input_tokens} + output reserve {limits.reserved_output_tokens} = {measured} tokens"
    )
    remaining = max(0, (limits.compact_at_input_tokens or 0) - input_tokens)
    if measured >= line:
        return Decision(
            action="compact",
            reason="token_limit_reached",
            input_tokens=input_tokens,
            measured_tokens=measured,
            line_tokens=line,
            remaining_tokens=remaining,
            detail=f"{comparison}, at or over the line of {line}",
        )
    return Decision(
        action="submit",
        reason="under_line",
        input_tokens=input_tokens,
        measured_tokens=measured,
        line_tokens=line,
        remaining_tokens=remaining,
        detail=f"{comparison}, under the line of {line}",
    )
