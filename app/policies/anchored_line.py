"""Limits that count the output reserve once, and a line that is left only for a real gain.

What is compared is what the provider itself is predicted to count; before its
first report, the tokenizer's number. The reserve is capped and the line has an
absolute end, so neither a huge output limit nor a huge window moves it to where
a session compacts at every call, or never.

Source: docs/policies.md#calibrated.
"""

from dataclasses import dataclass
from typing import ClassVar

from app.core.limits import AfterFailure, Decision, LimitOrigin, Limits, Relief
from app.core.model_profile import ModelProfile
from app.core.policy import Measured, Whole
from app.policies.line import decide_by_input
from app.policies.origins import derived_origin, unknown_limits, window_origin
from app.policies.prefix_alone import blocked_by_prefix
from app.policies.rollover import NO_NOTICES, NoticeSettings
from app.policies.window_status import WindowStatus
from app.policies.window_use import status_of

LARGEST_RESERVE_SHARE = 4
"""The reserve takes a quarter of the window at most: an answer that needs more than that leaves
no room for what it is about. Small models state output limits close to their whole window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredLine:
    """The predicted input against a share of the window less a capped reserve."""

    decides_once_per_turn: ClassVar[bool] = False
    after_failure: ClassVar[AfterFailure] = "submit_what_fits"
    notices: ClassVar[NoticeSettings] = NO_NOTICES

    auto_compact_percent: int = 85
    output_reserve_cap_tokens: int = 32_000
    absolute_line_tokens: int = 400_000
    """Where the line ends however large the window is: models lose track long before a million."""
    target_percent: int = 60
    """Of the line: pruning that leaves more than this is no relief, and a compaction follows."""
    min_gain_tokens: int = 4_096
    """What pruning or a compaction must at least take away to be worth a broken prompt cache."""

    @property
    def line_percent(self) -> int:
        """The percentage of the policy."""
        return self.auto_compact_percent

    def percent_override(self, percent: int) -> tuple[str, object]:
        """The percentage itself."""
        return "auto_compact_percent", percent

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """Window less reserve, and the line at a share of it. All are None without a window."""
        window = profile.context_window
        if window is None:
            return unknown_limits(reserved_output_tokens)
        wanted = reserved_output_tokens + (profile.max_reasoning_tokens or 0)
        reserve = min(wanted, self.output_reserve_cap_tokens, window // LARGEST_RESERVE_SHARE)
        effective = window - reserve
        share = -(-effective * self.auto_compact_percent // 100)
        line = min(share, self.absolute_line_tokens)
        return Limits(
            context_window=window,
            effective_input_tokens=effective,
            auto_compact_token_limit=line,
            line_tokens=line,
            compact_at_input_tokens=line,
            reserved_output_tokens=reserve,
            hard_limit_tokens=effective,
            provenance={
                "context_window": window_origin(profile),
                "effective_input_tokens": derived_origin(
                    effective, f"window {window} less a reserve of {reserve}"
                ),
                "reserved_output_tokens": _reserve_origin(wanted, reserve),
                "auto_compact_token_limit": _line_origin(share, line, self.auto_compact_percent),
            },
        )

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Compact where the predicted input reaches the line.

        What no compaction changes is never a reason for one: a prefix that
        reaches the line by itself blocks.
        """
        predicted = measured.calibrated_tokens
        if predicted is None:
            decision = decide_by_input(measured.tokenizer_tokens, limits, "tokenizer")
        else:
            decision = decide_by_input(predicted, limits, "calibrated count")
        return blocked_by_prefix(decision, measured.fixed_tokens)

    def status(self, measured: Measured, limits: Limits) -> WindowStatus:
        """What was reported against the line."""
        return status_of(measured, limits)

    def starting_total(self, estimated_tokens: int, whole: Whole) -> int:
        """The estimate."""
        del whole
        return estimated_tokens

    def relief(self, limits: Limits) -> Relief:
        """Pruning has to reach the target, and nothing is done for less than the gain."""
        line = limits.line_tokens
        target = None if line is None else line * self.target_percent // 100
        return Relief(target_tokens=target, min_gain_tokens=self.min_gain_tokens)


def _reserve_origin(wanted: int, reserve: int) -> LimitOrigin:
    why = "output and reasoning limits of the model profile"
    if reserve != wanted:
        why += ", cut to the policy's cap and a quarter of the window"
    return LimitOrigin(requested=wanted, effective=reserve, source="policy", why=why)


def _line_origin(share: int, line: int, percent: int) -> LimitOrigin:
    why = f"{percent} % of the effective input, rounded up"
    if line != share:
        why += f", cut to the absolute line of {line}"
    return LimitOrigin(requested=share, effective=line, source="policy", why=why)
