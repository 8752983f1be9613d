"""One line for input and output reserve together: at it, compact first.

Source: docs/semantics/budget.md#decision.
"""

from app.core.limits import Decision, Limits


def decide_by_line(estimated_input_tokens: int, limits: Limits) -> Decision:
    """Compact at or over the line; submit under it, or where no window is known."""
    measured = estimated_input_tokens + limits.reserved_output_tokens
    line = limits.line_tokens
    if line is None:
        return Decision(
            action="submit",
            reason="unknown_window",
            measured_tokens=measured,
            line_tokens=None,
            detail="the model's window is unknown, so nothing can be compared with it",
        )
    comparison = (
        f"input {estimated_input_tokens} + output reserve {limits.reserved_output_tokens} "
        f"= {measured} tokens"
    )
    if measured >= line:
        return Decision(
            action="compact",
            reason="token_limit_reached",
            measured_tokens=measured,
            line_tokens=line,
            detail=f"{comparison}, at or over the line of {line}",
        )
    return Decision(
        action="submit",
        reason="under_line",
        measured_tokens=measured,
        line_tokens=line,
        detail=f"{comparison}, under the line of {line}",
    )
