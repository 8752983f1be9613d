"""Limits that reserve room for the answer (preset `openwork`).

The output reserve counts twice: it is taken off the window, and added to
the input when the line is tested. A 200 000-token window with 32 000 tokens
of output therefore compacts at an input of 110 800 tokens.

Source: docs/semantics/budget.md#limits.
"""

from dataclasses import dataclass
from typing import ClassVar

from app.core.limits import AfterFailure, Decision, LimitOrigin, Limits, Relief
from app.core.model_profile import ModelProfile
from app.core.policy import Measured, Whole
from app.policies.line import decide_by_line
from app.policies.origins import derived_origin, unknown_limits, window_origin
from app.policies.rollover import NO_NOTICES, NoticeSettings
from app.policies.window_status import WindowStatus
from app.policies.window_use import status_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveLine:
    """The JSON estimate and the output reserve against a share of what the reserves leave."""

    decides_once_per_turn: ClassVar[bool] = False
    after_failure: ClassVar[AfterFailure] = "blocked"
    notices: ClassVar[NoticeSettings] = NO_NOTICES

    auto_compact_percent: int = 85

    @property
    def line_percent(self) -> int:
        """The percentage of the policy."""
        return self.auto_compact_percent

    def percent_override(self, percent: int) -> tuple[str, object]:
        """The percentage itself."""
        return "auto_compact_percent", percent

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The limits of `reserve_limits`."""
        return reserve_limits(profile, self.auto_compact_percent, reserved_output_tokens)

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Compact where estimate and reserve reach the line."""
        return decide_by_line(measured.estimated_tokens, limits)

    def starting_total(self, estimated_tokens: int, whole: Whole) -> int:
        """The estimate."""
        del whole
        return estimated_tokens

    def relief(self, limits: Limits) -> Relief:
        """Any pruning below the line will do, and any compaction is worth it."""
        return Relief(target_tokens=None, min_gain_tokens=0)

    def status(self, measured: Measured, limits: Limits) -> WindowStatus:
        """What was reported against the line, which is an estimate's otherwise."""
        return status_of(measured, limits)


def reserve_limits(
    profile: ModelProfile, auto_compact_percent: int, reserved_output_tokens: int
) -> Limits:
    """The limits of a call that reserves `reserved_output_tokens` for its answer.

    >>> profile = ModelProfile(name="m", context_window=200_000, max_output_tokens=32_000)
    >>> limits = reserve_limits(profile, 85, 32_000)
    >>> limits.effective_input_tokens, limits.auto_compact_token_limit
    (168000, 142800)
    >>> limits.compact_at_input_tokens
    110800
    """
    window = profile.context_window
    if window is None:
        return unknown_limits(reserved_output_tokens)
    effective = window - profile.reserve_tokens
    auto_limit = -(-effective * auto_compact_percent // 100)
    line = min(auto_limit, effective)
    return Limits(
        context_window=window,
        effective_input_tokens=effective,
        auto_compact_token_limit=auto_limit,
        line_tokens=line,
        compact_at_input_tokens=max(0, line - reserved_output_tokens),
        reserved_output_tokens=reserved_output_tokens,
        provenance={
            "context_window": window_origin(profile),
            "effective_input_tokens": derived_origin(
                effective, f"window {window} less output and reasoning {profile.reserve_tokens}"
            ),
            "auto_compact_token_limit": LimitOrigin(
                requested=None,
                effective=auto_limit,
                source="policy",
                why=f"{auto_compact_percent} % of the effective input, rounded up",
            ),
        },
    )
