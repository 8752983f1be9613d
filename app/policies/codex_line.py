"""Codex CLI's limits: a hard one, and a line for the whole context or for what grew in it.

Source: docs/policies.md#codex.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from app.core.limits import AfterFailure, Decision, Limits, LimitScope, Reason, Relief
from app.core.local_estimate import adjustment_tokens
from app.core.model_profile import ModelProfile
from app.core.policy import Measured, Whole
from app.policies.active_context import active_tokens
from app.policies.codex_switch import SwitchReason, switch
from app.policies.codex_window import (
    DEFAULT_PERCENT,
    ModelWindow,
    WindowOverrides,
    refuse_impossible_window,
    resolve_window,
)
from app.policies.prefix_alone import blocked_by_prefix
from app.policies.rollover import NoticeSettings
from app.policies.window_status import WindowStatus, WindowUse, window_status


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexLine:
    """The provider's last total and what came after it, against two limits."""

    decides_once_per_turn: ClassVar[bool] = False
    after_failure: ClassVar[AfterFailure] = "blocked"

    auto_compact_percent: int = DEFAULT_PERCENT
    model_context_window: int | None = None
    model_auto_compact_token_limit: int | None = None
    model_auto_compact_token_limit_scope: LimitScope = "total"
    auto_compact_fallback_buffer_tokens: int | None = None
    """Room above the line for a last message of the worker's own."""
    reminder_threshold_tokens: int | None = None
    strict_parity: bool = False
    """Whether numbers that make no sense are taken and reckoned with as Codex does."""

    @property
    def notices(self) -> NoticeSettings:
        """The reminder, where a threshold is set; the fallback's words are the worker's own."""
        return NoticeSettings(
            reminder_threshold_tokens=self.reminder_threshold_tokens,
            fallback_buffer_tokens=self.auto_compact_fallback_buffer_tokens,
        )

    @property
    def line_percent(self) -> int:
        """The percentage of the policy."""
        return self.auto_compact_percent

    def percent_override(self, percent: int) -> tuple[str, object]:
        """The percentage itself."""
        return "auto_compact_percent", percent

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """Hard limit and line of a model.

        Raises:
            InvalidWindow: A window or a line is not positive, or a percentage out of bounds.
        """
        window = self.window(profile)
        hard, scope = window.hard_limit_tokens, self.model_auto_compact_token_limit_scope
        in_total = scope == "total"
        limit = window.auto_compact_token_limit if in_total else window.body_token_limit
        line = None if limit is None else limit + (self.auto_compact_fallback_buffer_tokens or 0)
        # Where growth begins is known to a session only, so no input starts a compaction of a body.
        starts = [tokens for tokens in (line, hard) if tokens is not None] if in_total else []
        return Limits(
            context_window=window.context_window,
            effective_input_tokens=hard,
            auto_compact_token_limit=limit,
            line_tokens=line,
            compact_at_input_tokens=min(starts, default=None),
            reserved_output_tokens=reserved_output_tokens,
            hard_limit_tokens=hard,
            scope=scope,
            provenance=window.provenance,
        )

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Whether this model, or first the one before it, has to compact."""
        window = self.window(measured.profile)
        status = self.status(measured, limits)
        decision = _compared(status, limits, measured)
        reason = self._switch(measured, window, status)
        if reason is not None:
            before = measured.usage.answered_by
            return replace(
                decision,
                action="compact",
                reason=reason,
                compact_with_model=None if before is None else before.name,
                detail=f"the model changed to {window.name}; {decision.detail}",
            )
        if self.strict_parity or self._is_about_growth(decision):
            return decision
        return blocked_by_prefix(decision, measured.fixed_tokens)

    def starting_total(self, estimated_tokens: int, whole: Whole) -> int:
        """The estimate."""
        del whole
        return estimated_tokens

    def relief(self, limits: Limits) -> Relief:
        """Codex compacts whenever a limit is reached."""
        return Relief(target_tokens=None, min_gain_tokens=0)

    def status(self, measured: Measured, limits: Limits) -> WindowStatus:
        """How far the window is from its limits.

        Before the first report nothing is in it, whatever the conversation holds.
        """
        use = WindowUse(
            active_context_tokens=active_tokens(measured) or 0,
            scope=self.model_auto_compact_token_limit_scope,
            prefill=measured.usage.prefill,
            fallback_buffer_tokens=self.auto_compact_fallback_buffer_tokens,
        )
        return window_status(use, self.window(measured.profile))

    def window(self, profile: ModelProfile) -> ModelWindow:
        """The numbers of a model under this policy.

        Raises:
            InvalidWindow: They make no sense, and `strict_parity` is off.
        """
        if not self.strict_parity:
            refuse_impossible_window(profile, self._overrides)
        return resolve_window(profile, self._overrides)

    @property
    def _overrides(self) -> WindowOverrides:
        return WindowOverrides(
            context_window=self.model_context_window,
            auto_compact_token_limit=self.model_auto_compact_token_limit,
            auto_compact_percent=self.auto_compact_percent,
            arithmetic="wrapping" if self.strict_parity else "saturating",
        )

    def _is_about_growth(self, decision: Decision) -> bool:
        """Whether the decision's line is one that system parts and tools do not count against."""
        is_body = self.model_auto_compact_token_limit_scope == "body_after_prefix"
        return is_body and decision.reason != "hard_limit_reached"

    def _switch(
        self, measured: Measured, window: ModelWindow, status: WindowStatus
    ) -> SwitchReason | None:
        before = measured.usage.answered_by
        if before is None or measured.phase != "pre_turn":
            return None
        # Nobody can change a model that has answered, so its numbers are taken as they are.
        return switch(
            status.active_context_tokens,
            resolve_window(before, self._overrides),
            window,
            self.model_auto_compact_token_limit_scope,
        )


def _compared(status: WindowStatus, limits: Limits, measured: Measured) -> Decision:
    measured_tokens, line = _decisive(status, limits)
    decision = Decision(
        action="submit",
        reason="under_line",
        input_tokens=_input_tokens(status, measured),
        measured_tokens=measured_tokens,
        line_tokens=line,
        remaining_tokens=status.base_window_tokens_remaining,
        detail=_told(status, limits),
    )
    if line is None:
        return replace(decision, reason="unknown_window")
    if status.token_limit_reached:
        reason: Reason = (
            "hard_limit_reached" if status.hard_limit_reached else "token_limit_reached"
        )
        return replace(decision, action="compact", reason=reason)
    return decision


def _decisive(status: WindowStatus, limits: Limits) -> tuple[int, int | None]:
    """The two numbers that decide: those of the hard limit where it is reached or the only one."""
    if status.hard_limit_reached or limits.line_tokens is None:
        return status.active_context_tokens, limits.hard_limit_tokens
    return status.scope_tokens, limits.line_tokens


def _input_tokens(status: WindowStatus, measured: Measured) -> int:
    """What the input is taken to be: before the first report it is Codex's estimate."""
    if measured.usage.last_total is None:
        return measured.estimated_tokens + adjustment_tokens(measured.items)
    return status.active_context_tokens


def _told(status: WindowStatus, limits: Limits) -> str:
    parts = [f"active context {status.active_context_tokens} tokens"]
    if limits.scope == "body_after_prefix":
        parts.append(f"{status.scope_tokens} of them behind the prefix")
    parts.append(f"line {_shown(limits.line_tokens)}")
    parts.append(f"hard limit {_shown(limits.hard_limit_tokens)}")
    return ", ".join(parts)


def _shown(tokens: int | None) -> str:
    return "unknown" if tokens is None else str(tokens)
