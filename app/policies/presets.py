"""Presets: policies as data, and the overrides that each may take.

Nothing in the engine asks which preset it serves.

Source: docs/policies.md.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from app.core.errors import ContextError
from app.core.follow_up import FollowUp
from app.core.limits import AfterFailure, Decision, Limits, Relief, ToolOrder
from app.core.model_profile import ModelProfile
from app.core.policy import Measured
from app.core.project import DEFAULT_MAX_TOOL_RESULT_TOKENS
from app.core.prune import DEFAULT_PRUNE_CHARS
from app.policies.anchored_line import AnchoredLine
from app.policies.codex_line import CodexLine
from app.policies.codex_rollover import AfterSample, Notices, due_notices, reminder_text
from app.policies.codex_status import WindowStatus
from app.policies.folding import CodexFolding, Folding, OpenWorkFolding
from app.policies.overrides import CHECKS, UnknownPolicyOverride
from app.policies.reserve import ReserveLine
from app.policies.rule import LineRule
from app.policies.shaping import Shaping


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
    line: LineRule
    folding: Folding
    shaping: Shaping

    @property
    def after_failed_compaction(self) -> AfterFailure:
        """What becomes of a model call whose compaction failed."""
        return self.line.after_failure

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The limits of a call that reserves so much for its answer."""
        return self.line.limits(profile, reserved_output_tokens)

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Whether to send a request or to compact first."""
        decision = self.line.decide(measured, limits)
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
        decision, remaining = self.decide(measured, limits), self._remaining(measured, limits)
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
            phase=measured.phase,
            roll_over=sample.rolls_over,
            reminder=reminder_text(remaining) if due.reminder else None,
        )

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


_MECHANISMS = ("line", "folding", "shaping")
"""Fields of a policy whose own fields are values of the policy too."""

_OPENWORK = PresetPolicy(
    preset="openwork",
    max_tool_result_tokens=DEFAULT_MAX_TOOL_RESULT_TOKENS,
    prune_tool_result_chars=DEFAULT_PRUNE_CHARS,
    auto_prune=True,
    tool_order="given",
    line=ReserveLine(),
    folding=OpenWorkFolding(),
    shaping=Shaping(),
)

PRESETS: Mapping[str, PresetPolicy] = {
    "openwork": _OPENWORK,
    # Codex shortens tool results when it stores them, and never afterwards.
    "codex": replace(
        _OPENWORK, preset="codex", auto_prune=False, line=CodexLine(), folding=CodexFolding()
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
        values |= asdict(getattr(policy, mechanism))
    return values


def _overridden(policy: PresetPolicy, key: str, value: object) -> PresetPolicy:
    owner = _owner(policy, key)
    if owner is None:
        raise UnknownPolicyOverride(f"preset {policy.preset!r} has no value {key!r}", key=key)
    # A check gives a value of the field's own type.
    changes: dict[str, object] = {key: CHECKS[key](key, value)}
    if owner is not policy:
        mechanism = next(name for name in _MECHANISMS if getattr(policy, name) is owner)
        changes = {mechanism: replace(owner, **changes)}  # type: ignore[type-var]
    return replace(policy, **changes)  # type: ignore[arg-type]


def _owner(policy: PresetPolicy, key: str) -> object | None:
    """The policy, or the mechanism of it, that has a value of that name."""
    if key not in CHECKS:
        return None
    parts = (policy, *(getattr(policy, name) for name in _MECHANISMS))
    return next((part for part in parts if key in {field.name for field in fields(part)}), None)
