"""The decision after an answer that its output limit cut off.

Source: docs/semantics/usage.md#an-answer-that-was-cut-off.
"""

from dataclasses import dataclass, replace

from app.core.limits import AppendedMessage, Decision
from app.policies.continuation import Answer, Continuation, continuation

_CUT = "the answer was cut off by its output limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class CutAnswer:
    """A cut-off answer, and how far its step is continued already."""

    answer: Answer | None
    """None where nothing tells what it holds."""
    retries: int
    max_retries: int

    @property
    def following(self) -> Continuation | None:
        """What follows in the step; None where nothing tells what the answer holds."""
        if self.answer is None:
            return None
        return continuation(self.answer, self.retries, self.max_retries)

    @property
    def is_continued(self) -> bool:
        """Whether the same step calls again."""
        return self.following is not None and self.following.action == "continue"


def after_cut(
    decision: Decision, cut: CutAnswer, message_id: str | None, turn_id: str | None
) -> Decision:
    """The decision with what follows in the step before anything else.

    Args:
        decision: As it would be after an answer that is whole.
        cut: The answer.
        message_id: Of the user message that asks to go on; None leaves it to the store.
        turn_id: Of the same message.
    """
    following = cut.following
    if following is None:
        detail = f"{decision.detail}; {_CUT}, and nothing tells what it holds"
        return replace(decision, detail=detail)
    if following.action == "fail":
        return replace(
            decision,
            action="blocked",
            reason="max_tokens_exhausted",
            detail=f"{_CUT}, {_why_not(cut)}",
            roll_over=False,
        )
    if following.message is None:
        return decision
    return replace(
        decision,
        action="continue",
        reason="output_cut_off",
        detail=(
            f"{_CUT}: continuation {cut.retries + 1} of {cut.max_retries} of its step;"
            " after an error no other model may take the step over"
        ),
        append=AppendedMessage(id=message_id, turn_id=turn_id, text=following.message),
    )


def _why_not(cut: CutAnswer) -> str:
    if cut.retries >= cut.max_retries:
        return f"and the continuations of its step, {cut.max_retries}, are spent"
    return "and there is neither text nor reasoning to go on from"
