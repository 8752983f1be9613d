"""Two triggers of a conversation's own size: its texts, or the number of its messages.

Source: docs/policies.md#awaken.
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar

from app.core.limits import AfterFailure, Decision, LimitOrigin, Limits, Relief
from app.core.model_profile import ModelProfile
from app.core.policy import Measured, Whole
from app.policies.compact_config import DEFAULT_COMPACT, CompactConfig
from app.policies.compact_trigger import ConversationSize, due
from app.policies.origins import derived_origin, window_origin
from app.policies.prefix_alone import blocked_by_window
from app.policies.rollover import NO_NOTICES, NoticeSettings
from app.policies.window_status import WindowStatus
from app.policies.window_use import status_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLine:
    """The texts of a conversation at a share of `max_tokens`, or more messages than `threshold`."""

    after_failure: ClassVar[AfterFailure] = "submit"
    notices: ClassVar[NoticeSettings] = NO_NOTICES
    decides_once_per_turn: ClassVar[bool] = True

    compact: CompactConfig = DEFAULT_COMPACT

    @property
    def line_percent(self) -> int:
        """The trigger's share in percent, rounded down."""
        return int(self.compact.trigger_ratio * 100)

    def percent_override(self, percent: int) -> tuple[str, object]:
        """The share of `max_tokens`."""
        return "compact", replace(self.compact, trigger_ratio=percent / 100)

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The window less the output reserve, and the line where tokens trigger."""
        window, line = profile.context_window, self._line
        effective = None if window is None else max(0, window - reserved_output_tokens)
        provenance = {"context_window": window_origin(profile)}
        if effective is not None:
            why = f"window {window} less an output reserve of {reserved_output_tokens}"
            provenance["effective_input_tokens"] = derived_origin(effective, why)
        if line is not None:
            why = (
                f"{self.compact.trigger_ratio} of max_tokens {self.compact.max_tokens}, rounded up"
            )
            provenance["auto_compact_token_limit"] = LimitOrigin(
                requested=self.compact.max_tokens, effective=line, source="policy", why=why
            )
        return Limits(
            context_window=window,
            effective_input_tokens=effective,
            auto_compact_token_limit=line,
            line_tokens=line,
            compact_at_input_tokens=line,
            reserved_output_tokens=reserved_output_tokens,
            provenance=provenance,
        )

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Compact where the conversation is large enough and its kept tail is not all of it."""
        whole, line = measured.whole, limits.line_tokens
        texts = whole.text_tokens
        size = ConversationSize(messages=self._messages(whole), estimated_tokens=texts)
        urgency = due(self.compact, size).urgency
        decision = Decision(
            action="submit",
            reason="under_line",
            input_tokens=measured.estimated_tokens,
            measured_tokens=texts,
            line_tokens=line,
            remaining_tokens=None if line is None else max(0, line - texts),
            detail=self._told(size),
            prefetch_due=urgency == "soft",
        )
        if urgency != "hard":
            return decision
        over = replace(decision, action="compact", reason="token_limit_reached")
        return blocked_by_window(over, measured.least_fixed_tokens, limits.context_window)

    def status(self, measured: Measured, limits: Limits) -> WindowStatus:
        """What was reported against the line."""
        return status_of(measured, limits)

    def starting_total(self, estimated_tokens: int, whole: Whole) -> int:
        """The estimate."""
        del whole
        return estimated_tokens

    def relief(self, limits: Limits) -> Relief:
        """A compaction is always worth it."""
        return Relief(target_tokens=None, min_gain_tokens=0)

    def _messages(self, whole: Whole) -> int:
        """The messages; where tokens alone are known, there is something in front of the tail."""
        known = whole.message_count
        if known is not None:
            return known
        return 0 if self.compact.max_tokens is None else self.compact.keep_last + 1

    @property
    def _line(self) -> int | None:
        """The fewest whole tokens that reach the trigger; None where messages are counted."""
        config = self.compact
        return None if config.max_tokens is None else ceil(config.trigger_ratio * config.max_tokens)

    def _told(self, size: ConversationSize) -> str:
        config = self.compact
        if config.max_tokens is None:
            return f"{size.messages} messages, more than {config.threshold} trigger"
        return f"{size.estimated_tokens} tokens of text, {self._line} trigger"
