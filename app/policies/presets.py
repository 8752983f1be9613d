"""Presets: policies as data, and the overrides that each may take.

Nothing in the engine asks which preset it serves.

Source: docs/policies.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from app.core.errors import ContextError
from app.core.follow_up import FollowUp
from app.core.limits import AfterFailure, Decision, Limits, Relief, ToolOrder
from app.core.model_profile import ModelProfile
from app.core.policy import Measured
from app.core.project import DEFAULT_MAX_TOOL_RESULT_TOKENS
from app.core.prune import DEFAULT_PRUNE_CHARS
from app.core.usage_fill import MissingUsage
from app.policies.anchored_line import AnchoredLine
from app.policies.checks import CHECKS
from app.policies.codex_line import CodexLine
from app.policies.compact_config import compact_json
from app.policies.context_policy import context_policy_json
from app.policies.continuation import MAX_CONTINUATION_RETRIES
from app.policies.folding import (
    CodexFolding,
    Folding,
    HiddenFolding,
    OpenWorkFolding,
    TailFolding,
)
from app.policies.overrides import UnknownPolicyOverride
from app.policies.reserve import ReserveLine
from app.policies.rollover import AfterSample, Notices, due_notices, reminder_text
from app.policies.rule import LineRule
from app.policies.shaping import Shaping
from app.policies.share_line import ShareLine
from app.policies.size_line import SizeLine
from app.policies.tool_pairs import PairSummaries
from app.policies.window_status import WindowStatus


class UnknownPolicy(ContextError):
    """No preset has that name."""

    code = "unknown_policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetPolicy:
    """The values of one session's policy: its own, and those of the mechanisms it is made of."""

    preset: str
    max_tool_result_tokens: int
    prune_tool_result_chars: int
    auto_prune: bool
    tool_order: ToolOrder
    max_continuation_retries: int | None
    """Continuations of a step whose answers are cut off; None where the policy knows none."""
    missing_summary_usage: MissingUsage
    line: LineRule
    folding: Folding
    pairs: PairSummaries
    shaping: Shaping

    @property
    def decides_once_per_turn(self) -> bool:
        """Whether later calls of a turn stand by what its first one decided."""
        return self.line.decides_once_per_turn

    @property
    def after_failed_compaction(self) -> AfterFailure:
        """What becomes of a model call whose compaction failed."""
        return self.line.after_failure

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The limits of a call that reserves so much for its answer."""
        return self.line.limits(profile, reserved_output_tokens)

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Whether to send a request or to compact first."""
        decision = replace(self.line.decide(measured, limits), phase=measured.phase)
        if measured.profile.manages_own_context:
            decision = _left_to_the_provider(decision)
        asked = measured.phase == "mid_turn" and measured.usage.new_context_requested
        if not asked or decision.action != "submit":
            return decision
        return replace(
            decision,
            action="compact",
            reason="new_context_requested",
            detail=f"a new context was asked for; {decision.detail}",
        )

    def after_sample(self, measured: Measured, limits: Limits, follow_up: FollowUp) -> Decision:
        """What the next call of the turn will be told, and whether it is to begin a new window.

        Args:
            measured: The session with the report in it, in phase `mid_turn`: all that stands
                behind the model's last message counts.
            limits: Of the next call.
            follow_up: Without one nothing rolls over; the next turn decides anew.
        """
        decision, remaining = self._next(measured, limits), self._remaining(measured, limits)
        usage = measured.usage
        sample = AfterSample(
            model_needs_follow_up=follow_up.model_needs_follow_up,
            has_pending_input=follow_up.has_pending_input,
            new_context_requested=usage.new_context_requested,
            token_limit_reached=decision.action == "compact",
        )
        given = Notices(reminder=usage.is_reminded)
        due = due_notices(sample, remaining, self.line.notices, given)
        return replace(
            decision,
            roll_over=sample.rolls_over,
            reminder=reminder_text(remaining) if due.reminder else None,
        )

    def _next(self, measured: Measured, limits: Limits) -> Decision:
        """The decision over the next call of the turn."""
        decision = self.decide(measured, limits)
        is_asked = decision.reason == "new_context_requested"
        if decision.action != "compact" or is_asked or not self.decides_once_per_turn:
            return decision
        detail = f"the turn has decided at its first call; {decision.detail}"
        return replace(decision, action="submit", reason="already_compacted", detail=detail)

    def _remaining(self, measured: Measured, limits: Limits) -> int | None:
        return self.status(measured, limits).base_window_tokens_remaining

    def status(self, measured: Measured, limits: Limits) -> WindowStatus:
        """How far the window is from its limits."""
        return self.line.status(measured, limits)

    def relief(self, limits: Limits) -> Relief:
        """What pruning or a compaction must bring to be worth it."""
        return self.line.relief(limits)


def _left_to_the_provider(decision: Decision) -> Decision:
    """Send whatever the line says: whoever owns the context shortens it."""
    return replace(
        decision,
        action="submit",
        reason="disabled",
        compact_with_model=None,
        detail=f"the provider manages its own context; {decision.detail}",
    )


_MECHANISMS = ("line", "folding", "pairs", "shaping")
"""Fields of a policy whose own fields are values of the policy too."""

_OPENWORK = PresetPolicy(
    preset="openwork",
    max_tool_result_tokens=DEFAULT_MAX_TOOL_RESULT_TOKENS,
    prune_tool_result_chars=DEFAULT_PRUNE_CHARS,
    auto_prune=True,
    tool_order="given",
    max_continuation_retries=None,
    missing_summary_usage="unknown",
    line=ReserveLine(),
    folding=OpenWorkFolding(),
    pairs=PairSummaries(),
    shaping=Shaping(),
)

PRESETS: Mapping[str, PresetPolicy] = {
    "openwork": _OPENWORK,
    # Codex shortens tool results when it stores them, and never afterwards.
    "codex": replace(
        _OPENWORK, preset="codex", auto_prune=False, line=CodexLine(), folding=CodexFolding()
    ),
    # goose and Awaken shorten no tool result when a line is reached.
    "goose": replace(
        _OPENWORK,
        preset="goose",
        auto_prune=False,
        missing_summary_usage="estimated",
        line=ShareLine(),
        folding=HiddenFolding(),
        pairs=PairSummaries(tool_pair_summarization=True),
        shaping=Shaping(pairing="fix"),
    ),
    "awaken": replace(
        _OPENWORK,
        preset="awaken",
        auto_prune=False,
        max_continuation_retries=MAX_CONTINUATION_RETRIES,
        line=SizeLine(),
        folding=TailFolding(),
        shaping=Shaping(pairing="clean"),
    ),
    "calibrated": replace(_OPENWORK, preset="calibrated", line=AnchoredLine()),
}
DEFAULT_PRESET = "openwork"


def policy_from(choice: str | Mapping[str, object]) -> PresetPolicy:
    """The policy of a preset's name, or of a preset with overrides.

    Raises:
        UnknownPolicy: There is no such preset.
        UnknownPolicyOverride: An override names no value of the preset, or
            its content is not one that the value can have.
    """
    overrides = {"preset": choice} if isinstance(choice, str) else dict(choice)
    name = overrides.pop("preset", DEFAULT_PRESET)
    policy = PRESETS.get(name) if isinstance(name, str) else None
    if policy is None:
        known = ", ".join(sorted(PRESETS))
        raise UnknownPolicy(f"there is no policy {name!r}; there is {known}", key="preset")
    for key, value in overrides.items():
        policy = _overridden(policy, key, value)
    return policy


def policy_json(policy: PresetPolicy) -> dict[str, object]:
    """The policy with every value written out; `policy_from` takes it back."""
    values = {
        field.name: getattr(policy, field.name)
        for field in fields(policy)
        if field.name not in _MECHANISMS
    }
    for mechanism in _MECHANISMS:
        part = getattr(policy, mechanism)
        values |= {field.name: getattr(part, field.name) for field in fields(part)}
    return {name: _AS_JSON.get(name, _unchanged)(value) for name, value in values.items()}


def _unchanged(value: Any) -> object:
    return value


_AS_JSON: Mapping[str, Callable[[Any], object]] = {
    "compact": compact_json,
    "context_policy": context_policy_json,
    "tool_output_truncation": lambda cut: None if cut is None else asdict(cut),
}
"""Values that are not JSON by themselves."""


def _overridden(policy: PresetPolicy, key: str, value: object) -> PresetPolicy:
    """The policy with another value wherever it is held: two mechanisms may share one."""
    if key not in CHECKS:
        raise _unknown(policy, key)
    # A check gives a value of the field's own type.
    checked: Any = CHECKS[key](key, value)
    if key == "auto_compact_percent":
        key, checked = policy.line.percent_override(checked)
    if key in {field.name for field in fields(policy)}:
        return replace(policy, **{key: checked})
    owners = [name for name in _MECHANISMS if _has(getattr(policy, name), key)]
    if not owners:
        raise _unknown(policy, key)
    changed = {name: replace(getattr(policy, name), **{key: checked}) for name in owners}
    return replace(policy, **changed)


def _has(mechanism: Any, key: str) -> bool:
    return key in {field.name for field in fields(mechanism)}


def _unknown(policy: PresetPolicy, key: str) -> UnknownPolicyOverride:
    return UnknownPolicyOverride(f"preset {policy.preset!r} has no value {key!r}", key=key)
