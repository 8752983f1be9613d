"""An answer that was cut off by its output limit: whether the model is asked to go on.

It has nothing to do with compaction: the step goes on with two more messages,
the partial answer and a request to continue it.

Source: docs/semantics/awaken.md#continuation.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

AfterAnswer: TypeAlias = Literal["continue", "proceed", "fail"]
"""Ask again, take the answer as it is, or end the run with an error."""
ContinuationReason: TypeAlias = Literal[
    "cut_off", "not_cut_off", "has_tool_calls", "max_tokens_exhausted"
]

MAX_CONTINUATION_RETRIES = 2
"""Awaken's budget for one step."""

CONTINUATION_TEXT = (
    "Your previous response was cut off because it reached the output token limit. Continue exactly"
    " where you left off, without repeating what you already wrote. Break the remaining work into"
    " smaller pieces."
)
"""Says all that Awaken's message says, in our words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What matters of a model's answer."""

    was_cut_off: bool
    """Whether it stopped at its output limit."""
    has_tool_calls: bool
    has_text: bool
    has_reasoning: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """What follows an answer."""

    action: AfterAnswer
    reason: ContinuationReason
    message: str | None
    """Of the user, to append behind the partial answer; set where the action is `continue`."""


def continuation(
    answer: Answer, retries: int, max_retries: int = MAX_CONTINUATION_RETRIES
) -> Continuation:
    """What follows an answer in a step that was continued so often already.

    A cut answer that is not continued stays the step's answer, and the run
    ends in an error: it is never a natural end.

    Args:
        answer: The one that came last.
        retries: Continuations of this step, from 0; a new step begins anew.
        max_retries: 0 continues nothing.
    """
    if not answer.was_cut_off:
        return Continuation(action="proceed", reason="not_cut_off", message=None)
    if answer.has_tool_calls:
        return Continuation(action="proceed", reason="has_tool_calls", message=None)
    has_part = answer.has_text or answer.has_reasoning
    if not has_part or retries >= max_retries:
        return Continuation(action="fail", reason="max_tokens_exhausted", message=None)
    return Continuation(action="continue", reason="cut_off", message=CONTINUATION_TEXT)


def may_fail_over(retries: int) -> bool:
    """Whether another model may take the step over after an error.

    Behind a stored partial answer none may: it would continue another model's words.
    """
    return retries == 0


def partial_id(run_id: str, step: int, retry: int) -> str:
    """The id of a partial answer; retries count from 0."""
    return f"{run_id}-assistant-{step}-truncated-{retry}"


def continuation_id(run_id: str, step: int, retry: int) -> str:
    """The id of the user message behind a partial answer; retries count from 0."""
    return f"{run_id}-continuation-{step}-{retry}"
