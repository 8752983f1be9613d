"""What follows a sample: a new window, a fallback message, a reminder, or nothing.

Source: docs/semantics/codex.md#after-a-sample.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterSample:
    """What is known once a model has answered and its tools have run."""

    model_needs_follow_up: bool
    """The answer asked for tools, or said that its turn has not ended."""
    has_pending_input: bool
    new_context_requested: bool
    token_limit_reached: bool

    @property
    def needs_follow_up(self) -> bool:
        """Whether another sample follows in this turn."""
        return self.model_needs_follow_up or self.has_pending_input

    @property
    def takes_request(self) -> bool:
        """Whether a request for a new context is used up; without a follow-up it stays."""
        return self.needs_follow_up and self.new_context_requested

    @property
    def rolls_over(self) -> bool:
        """Whether the window is replaced before the next sample."""
        return self.needs_follow_up and (self.new_context_requested or self.token_limit_reached)

    @property
    def allows_fallback(self) -> bool:
        """Whether the model may still be told to wind up in this window."""
        return not self.rolls_over and not self.token_limit_reached


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSettings:
    """When a model is told that its window runs out. None turns a notice off."""

    reminder_threshold_tokens: int | None = None
    fallback_buffer_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notices:
    """The notices of a window: those it has had, or those that are due."""

    reminder: bool = False
    fallback: bool = False


NO_NOTICES = NoticeSettings()
"""Of a policy that tells a model nothing."""

REMINDER = (
    "Your context window is nearly exhausted (only {n_remaining} tokens remaining) and will be"
    " automatically reset for you soon. Once reset, message items in current context window will be"
    " cleared in the new window, but notes and history items will be persistent across windows."
)
"""Codex's default text."""


def reminder_text(remaining_tokens: int | None) -> str:
    """The reminder of a window that is nearly full."""
    return REMINDER.format(n_remaining=remaining_tokens)


def due_notices(
    sample: AfterSample, remaining_tokens: int | None, settings: NoticeSettings, given: Notices
) -> Notices:
    """The notices that follow a sample, each once per window.

    Args:
        sample: What is known of it.
        remaining_tokens: `base_window_tokens_remaining` of the status; with an
            unknown number nothing is due.
        settings: What the policy turns on.
        given: The notices that this window has had.
    """
    if remaining_tokens is None:
        return Notices()
    threshold = settings.reminder_threshold_tokens
    return Notices(
        reminder=threshold is not None and remaining_tokens <= threshold and not given.reminder,
        fallback=settings.fallback_buffer_tokens is not None
        and remaining_tokens == 0
        and sample.allows_fallback
        and not given.fallback,
    )
