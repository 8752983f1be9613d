"""Limits, status and decision for workers that keep their own usage.

Source: docs/semantics/usage.md#without-a-session.
"""

from dataclasses import dataclass, replace

from app.core.follow_up import FollowUp
from app.core.limits import Decision, Limits
from app.core.model_profile import ModelProfile
from app.core.policy import Measured
from app.core.prefill import NO_PREFILL
from app.core.usage import NO_USAGE, LastTotal, UsageState
from app.policies.presets import PresetPolicy
from app.policies.window_status import WindowStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUsage:
    """What a worker knows of its window."""

    active_context_tokens: int
    """What the context holds; every preset takes it as its own measure."""
    prefill_input_tokens: int | None
    new_context_requested: bool
    follow_up: FollowUp | None
    """None before a turn."""
    previous: ModelProfile | None
    """The model that answered before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSize:
    """A conversation of which its tokens alone are known."""

    tokens: int
    message_count: int | None = None

    @property
    def text_tokens(self) -> int:
        """The tokens as they are given."""
        return self.tokens

    @property
    def chat_tokens(self) -> int:
        """The tokens as they are given."""
        return self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenStanding:
    """How far the window is from its limits, and what follows."""

    status: WindowStatus
    decision: Decision


def limits_given(policy: PresetPolicy, profile: ModelProfile) -> Limits:
    """The limits of a model under a policy.

    Raises:
        InvalidWindow: They make no sense together.
    """
    return policy.limits(profile, profile.max_output_tokens or 0)


def standing_given(
    policy: PresetPolicy, profile: ModelProfile, limits: Limits, usage: GivenUsage
) -> GivenStanding:
    """Status and decision: before a turn, or after a sample where a follow-up is told."""
    active = usage.active_context_tokens
    measured = Measured(
        profile=profile,
        estimated_tokens=active,
        tokenizer_tokens=active,
        calibrated_tokens=active,
        fixed_tokens=0,
        least_fixed_tokens=0,
        items=(),
        whole=GivenSize(tokens=active),
        usage=_state(usage),
        phase="pre_turn" if usage.follow_up is None else "mid_turn",
    )
    status = policy.status(measured, limits)
    if usage.follow_up is None:
        return GivenStanding(status=status, decision=policy.decide(measured, limits))
    decision = policy.after_sample(measured, limits, usage.follow_up)
    return GivenStanding(status=status, decision=decision)


def _state(usage: GivenUsage) -> UsageState:
    prefill = NO_PREFILL
    if usage.prefill_input_tokens is not None:
        prefill = prefill.with_usage(usage.prefill_input_tokens)
    return replace(
        NO_USAGE,
        last_total=LastTotal(tokens=usage.active_context_tokens, source="observed"),
        prefill=prefill,
        answered_by=usage.previous,
        new_context_requested=usage.new_context_requested,
    )
