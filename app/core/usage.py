"""What providers reported of a session's calls, as far as the next call depends on it.

A state belongs to one window: what was reported before a compaction says
nothing of the context after it.

Source: docs/semantics/usage.md#state.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from app.core.calibration import NOTHING_REPORTED, Calibration, calibration_from_json
from app.core.model_profile import ModelProfile, profile_from_json, stored_profile_json
from app.core.prefill import NO_PREFILL, Prefill

TotalSource: TypeAlias = Literal["observed", "estimated", "overflow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTotal:
    """The tokens of the context after the last call, its answer included."""

    tokens: int
    source: TotalSource
    """Reported by a provider, estimated at a window's start, or set full by an overflow."""
    reasoning_included: bool = False
    """Whether the provider counts the reasoning of earlier turns in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageTotals:
    """What all calls of a session add up to, late ones and those of summaries included.

    No decision looks at it.
    """

    reports: int = 0
    """Calls of the session itself."""
    input_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuedStep:
    """The step whose last answer was cut off and is continued."""

    turn_id: str | None
    model_call: int | None
    """Without the two, answers that are cut off one after the other are one step."""
    retries: int
    """Continuations that were asked for, from 1."""
    message_count: int
    """Of the session when the last one was asked for."""

    def is_of(self, turn_id: str | None, model_call: int | None) -> bool:
        """Whether a call of that turn and number is one of the step."""
        return (self.turn_id, self.model_call) == (turn_id, model_call)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageState:
    """What the next decision needs of the reports so far. Nothing of it is a default."""

    last_total: LastTotal | None = None
    """None before the first report of a session."""
    calibration: Calibration = NOTHING_REPORTED
    """What predicts the next input."""
    prefill: Prefill = NO_PREFILL
    answered_by: ModelProfile | None = None
    """The model that the last request was made for."""
    new_context_requested: bool = False
    """Whether a new window was asked for, which the next call opens."""
    is_reminded: bool = False
    """Whether this window has had its reminder."""
    continued: ContinuedStep | None = None
    """None where the last answer is not continued."""
    totals: UsageTotals = UsageTotals()

    def in_new_window(
        self, estimated_tokens: int, total_tokens: int, profile: ModelProfile
    ) -> "UsageState":
        """The state once a summary of `profile`'s session stands for its past.

        Args:
            estimated_tokens: Of the whole context as the new window starts.
            total_tokens: What the session's policy takes that context to hold.
            profile: Of the session's model.
        """
        return replace(
            self,
            last_total=LastTotal(tokens=total_tokens, source="estimated"),
            calibration=self.calibration.in_new_window(),
            prefill=NO_PREFILL.with_estimate(estimated_tokens),
            answered_by=profile,
            new_context_requested=False,
            is_reminded=False,
        )


NO_USAGE = UsageState()
"""Of a session that no provider has reported on."""


def usage_json(state: UsageState) -> dict[str, object]:
    """A usage state with every field written out; `usage_from_json` takes it back."""
    profile = state.answered_by
    return {
        **asdict(state),
        "answered_by": None if profile is None else stored_profile_json(profile),
    }


def usage_from_json(value: object) -> UsageState:
    """The state of a value that `usage_json` made."""
    # Only values made by `usage_json` come here, so their shape is known.
    given = dict(cast("Mapping[str, Any]", value))
    for name, make in _PARTS.items():
        if given.get(name) is not None:
            given[name] = make(given[name])
    return UsageState(**given)


_PARTS: Mapping[str, Callable[[Any], object]] = {
    "last_total": lambda part: LastTotal(**part),
    "calibration": calibration_from_json,
    "prefill": lambda part: Prefill(**part),
    "answered_by": profile_from_json,
    "continued": lambda part: ContinuedStep(**part),
    "totals": lambda part: UsageTotals(**part),
}
