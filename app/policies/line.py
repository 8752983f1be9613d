"""One line: at it, compact first.

Source: docs/semantics/budget.md#decision.
"""

from app.core.limits import Decision, Limits


def decide_by_line(input_tokens: int, limits: Limits) -> Decision:
    """Input and output reserve together against the line; submit where no window is known."""
    reserve = limits.reserved_output_tokens
    measured = input_tokens + reserve
    told = f"input {input_tokens} + output reserve {reserve} = {measured} tokens"
    return _compared(input_tokens, measured, told, limits)


def decide_by_input(input_tokens: int, limits: Limits, counter: str) -> Decision:
    """The input alone against the line, for limits that took the reserve off already."""
    told = f"input {input_tokens} tokens by {counter}"
    return _compared(input_tokens, input_tokens, told, limits)


def _compared(input_tokens: int, measured: int, told: str, limits: Limits) -> Decision:
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
    remaining = max(0, (limits.compact_at_input_tokens or 0) - input_tokens)
    if measured >= line:
        return Decision(
            action="compact",
            reason="token_limit_reached",
            input_tokens=input_tokens,
            measured_tokens=measured,
            line_tokens=line,
            remaining_tokens=remaining,
            detail=f"{told}, at or over the line of {line}",
        )
    return Decision(
        action="submit",
        reason="under_line",
        input_tokens=input_tokens,
        measured_tokens=measured,
        line_tokens=line,
        remaining_tokens=remaining,
        detail=f"{told}, under the line of {line}",
    )
