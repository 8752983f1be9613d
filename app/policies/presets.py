"""Presets: policies as data, and the overrides that each may take.

Nothing in the engine asks which preset it serves.

Source: docs/policies.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from app.core.errors import ContextError
from app.core.limits import Decision, Limits, ToolOrder
from app.core.model_profile import ModelProfile
from app.core.project import DEFAULT_MAX_TOOL_RESULT_TOKENS
from app.core.prune import DEFAULT_PRUNE_CHARS
from app.policies.line import decide_by_line
from app.policies.reserve import reserve_limits


class UnknownPolicy(ContextError):
    """No preset has that name."""

    code = "unknown_policy"


class UnknownPolicyOverride(ContextError):
    """The preset has no such value, or not with that content."""

    code = "unknown_policy_override"


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetPolicy:
    """The values of one session's policy."""

    preset: str
    auto_compact_percent: int
    """Share of the effective input at which a session compacts, 1 to 100."""
    max_tool_result_tokens: int
    prune_tool_result_chars: int
    auto_prune: bool
    tool_order: ToolOrder

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The limits of a call that reserves so much for its answer."""
        return reserve_limits(profile, self.auto_compact_percent, reserved_output_tokens)

    def decide(self, estimated_input_tokens: int, limits: Limits) -> Decision:
        """Whether to send a request of that size or to compact first."""
        return decide_by_line(estimated_input_tokens, limits)


PRESETS: Mapping[str, PresetPolicy] = {
    "openwork": PresetPolicy(
        preset="openwork",
        auto_compact_percent=85,
        max_tool_result_tokens=DEFAULT_MAX_TOOL_RESULT_TOKENS,
        prune_tool_result_chars=DEFAULT_PRUNE_CHARS,
        auto_prune=True,
        tool_order="given",
    )
}
DEFAULT_PRESET = "openwork"

_BOUNDS: Mapping[str, range] = {
    "auto_compact_percent": range(1, 101),
    "max_tool_result_tokens": range(1, 2**31),
    "prune_tool_result_chars": range(1, 2**31),
}
_TOOL_ORDERS: tuple[ToolOrder, ...] = ("given", "name")


def policy_from(choice: str | Mapping[str, object]) -> PresetPolicy:
    """The policy of a preset's name, or of a preset with overrides.

    Raises:
        UnknownPolicy: There is no such preset.
        UnknownPolicyOverride: An override names no value of the preset, or
            its content is not one that the value can have.
    """
    overrides = {"preset": choice} if isinstance(choice, str) else dict(choice)
    name = overrides.pop("preset", DEFAULT_PRESET)
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if preset is None:
        known = ", ".join(sorted(PRESETS))
        raise UnknownPolicy(f"there is no policy {name!r}; there is {known}", key="preset")
    for key, value in overrides.items():
        preset = _overridden(preset, key, value)
    return preset


def policy_json(policy: PresetPolicy) -> dict[str, object]:
    """The policy with every value written out; `policy_from` takes it back."""
    return {field.name: getattr(policy, field.name) for field in fields(policy)}


def _overridden(policy: PresetPolicy, key: str, value: object) -> PresetPolicy:
    bounds = _BOUNDS.get(key)
    if bounds is not None:
        if isinstance(value, int) and not isinstance(value, bool) and value in bounds:
            return replace(policy, **{key: value})  # type: ignore[arg-type]
        raise UnknownPolicyOverride(
            f"{key} must be a whole number from {bounds.start} to {bounds.stop - 1}", key=key
        )
    if key == "auto_prune":
        if isinstance(value, bool):
            return replace(policy, auto_prune=value)
        raise UnknownPolicyOverride(f"{key} must be true or false", key=key)
    if key == "tool_order":
        for order in _TOOL_ORDERS:
            if order == value:
                return replace(policy, tool_order=order)
        raise UnknownPolicyOverride(f"{key} must be one of {', '.join(_TOOL_ORDERS)}", key=key)
    raise UnknownPolicyOverride(f"preset {policy.preset!r} has no value {key!r}", key=key)
