"""A share of the window as the line, and what the latest call took against it.

Source: docs/policies.md#goose.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from app.core.limits import AfterFailure, Decision, LimitOrigin, Limits, Relief
from app.core.model_profile import ModelProfile
from app.core.policy import Measured, Whole
from app.policies.origins import derived_origin, unknown_limits, window_origin
from app.policies.prefix_alone import blocked_by_window
from app.policies.rollover import NO_NOTICES, NoticeSettings
from app.policies.window_share import DEFAULT_THRESHOLD, exceeds_share, first_over, is_switched_on
from app.policies.window_status import WindowStatus
from app.policies.window_use import status_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLine:
    """The last reported total, or the chat counted, strictly more than a share of the window."""

    after_failure: ClassVar[AfterFailure] = "submit"
    notices: ClassVar[NoticeSettings] = NO_NOTICES
    decides_once_per_turn: ClassVar[bool] = False

    threshold: float = DEFAULT_THRESHOLD
    """At or below 0 and at or above 1 nothing is compacted by itself."""

    @property
    def line_percent(self) -> int:
        """The threshold in percent, rounded down."""
        return int(self.threshold * 100)

    def percent_override(self, percent: int) -> tuple[str, object]:
        """The threshold."""
        return "threshold", percent / 100

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The window, and its share; without a share that is switched on there is no line."""
        window = profile.context_window
        if window is None:
            return unknown_limits(reserved_output_tokens)
        limits = Limits(
            context_window=window,
            effective_input_tokens=window,
            auto_compact_token_limit=None,
            line_tokens=None,
            compact_at_input_tokens=None,
            reserved_output_tokens=reserved_output_tokens,
            provenance={
                "context_window": window_origin(profile),
                "effective_input_tokens": derived_origin(window, f"window {window}"),
            },
        )
        if not is_switched_on(self.threshold):
            return limits
        # The quotient decides, and the product may round the other way: the line is what may be
        # reached, so that numbers and decision agree.
        start = first_over(window, self.threshold)
        line = start - 1
        why = f"{self.threshold} of the window, which a context may reach and not exceed"
        origin = LimitOrigin(requested=None, effective=line, source="policy", why=why)
        return replace(
            limits,
            auto_compact_token_limit=line,
            line_tokens=line,
            compact_at_input_tokens=start,
            provenance={**limits.provenance, "auto_compact_token_limit": origin},
        )

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Compact where the context exceeds the share."""
        last = measured.usage.last_total
        tokens = measured.whole.chat_tokens if last is None else last.tokens
        window, line = limits.context_window, limits.line_tokens
        decision = Decision(
            action="submit",
            reason="under_line",
            input_tokens=tokens,
            measured_tokens=tokens,
            line_tokens=line,
            remaining_tokens=None,
            detail=f"{_counted(measured)} {tokens} tokens",
            line="exceeded",
        )
        if window is None:
            return replace(decision, reason="unknown_window")
        if line is None:
            detail = f"{decision.detail}; a threshold of {self.threshold} is switched off"
            return replace(decision, reason="disabled", detail=detail)
        start = limits.compact_at_input_tokens or 0
        decision = replace(
            decision,
            remaining_tokens=max(0, start - tokens),
            detail=f"{decision.detail}, the line is {self.threshold} of {window}",
        )
        if not exceeds_share(tokens, window, self.threshold):
            return decision
        over = replace(decision, action="compact", reason="token_limit_reached")
        return blocked_by_window(over, measured.least_fixed_tokens, window)

    def status(self, measured: Measured, limits: Limits) -> WindowStatus:
        """What was reported against the line, which may be reached and not exceeded."""
        status, start = status_of(measured, limits), limits.compact_at_input_tokens
        is_over = start is not None and status.active_context_tokens >= start
        return replace(status, token_limit_reached=is_over)

    def starting_total(self, estimated_tokens: int, whole: Whole) -> int:
        """The messages that are left, each as a chat of its own, without prompt and tools."""
        del estimated_tokens
        return whole.chat_tokens

    def relief(self, limits: Limits) -> Relief:
        """A compaction is always worth it."""
        return Relief(target_tokens=None, min_gain_tokens=0)


def _counted(measured: Measured) -> str:
    last = measured.usage.last_total
    return "the messages count" if last is None else "the last total was"
