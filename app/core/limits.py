"""The limits of a model call and the decision they lead to. Every number is in tokens.

Source: docs/semantics/budget.md#limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core.model_profile import ProfileSource

Action: TypeAlias = Literal["submit", "compact", "wait", "blocked", "continue"]
Reason: TypeAlias = Literal[
    "under_line",
    "token_limit_reached",
    "hard_limit_reached",
    "model_downshift",
    "comp_hash_changed",
    "context_overflow",
    "over_line_after_compaction",
    "compaction_failed",
    "cannot_fit",
    "new_context_requested",
    "already_compacted",
    "unknown_window",
    "disabled",
    "output_cut_off",
    "max_tokens_exhausted",
]
CompactionTrigger: TypeAlias = Literal[
    "threshold", "overflow", "model_downshift", "comp_hash_changed"
]
BackgroundKind: TypeAlias = Literal["prefetch", "tool_pairs"]
"""Compactions that no call waits for."""
Phase: TypeAlias = Literal["pre_turn", "mid_turn"]
"""Before the first sample of a turn, or between two of them."""
LimitScope: TypeAlias = Literal["total", "body_after_prefix"]
"""What the line is compared with: the whole context, or what grew in this window."""
AfterFailure: TypeAlias = Literal["submit", "submit_what_fits", "blocked"]
"""What becomes of a model call whose compaction failed."""
ToolOrder: TypeAlias = Literal["given", "name"]
LimitSource: TypeAlias = Literal[ProfileSource, "policy", "derived", "learned", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOrigin:
    """Where a limit comes from: what was asked for, what counts, and why."""

    requested: int | None
    effective: int | None
    source: LimitSource
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one model call; null where the window is unknown."""

    context_window: int | None
    effective_input_tokens: int | None
    """What of the window an input may take."""
    auto_compact_token_limit: int | None
    """The line, before the output reserve is taken off it."""
    line_tokens: int | None
    """What input plus output reserve is compared with."""
    compact_at_input_tokens: int | None
    """The smallest input at which the session compacts."""
    reserved_output_tokens: int
    provenance: Mapping[str, LimitOrigin]
    hard_limit_tokens: int | None = None
    """What no request may reach, whatever the line says; None where the policy has none."""
    scope: LimitScope = "total"

    @property
    def always_reached(self) -> bool:
        """Whether even an empty request is at the line, so that every call compacts."""
        return self.line_tokens is not None and self.compact_at_input_tokens == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Relief:
    """What shortening a session must bring to be worth a broken prompt cache."""

    target_tokens: int | None
    """What pruning has to leave at most of the input; None is anything below the line."""
    min_gain_tokens: int
    """What pruning or a compaction has to take away at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionCall:
    """A compaction that a decision asks for."""

    kind: CompactionTrigger | BackgroundKind
    plan_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedMessage:
    """A message of the user that the worker is to append before it calls again."""

    id: str | None
    """None where no id can be made that every repeat makes again."""
    turn_id: str | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do with a prepared request, and the two numbers compared."""

    action: Action
    reason: Reason
    input_tokens: int
    """What the policy takes the request's input to be; shares and remainders speak of it."""
    measured_tokens: int
    line_tokens: int | None
    remaining_tokens: int | None
    """Input that may still come before the session compacts; None where no limit is known."""
    detail: str
    phase: Phase = "pre_turn"
    compact_with_model: str | None = None
    """Who should summarise; None is the session's model."""
    reminder: str | None = None
    """What the worker should tell the model of its window; once per window."""
    compaction: CompactionCall | None = None
    retry_after_ms: int | None = None
    """When to ask again, where somebody else runs the compaction."""
    roll_over: bool = False
    """Of a decision after a sample: the next call of the turn begins with a compaction."""
    line: Literal["reached", "exceeded"] = "reached"
    """Whether equality is enough to be over the line."""
    prefetch_due: bool = False
    """Whether a summary is worth beginning before a fold is due."""
    background: tuple[CompactionCall, ...] = ()
    """Compactions that may run while the request is sent."""
    append: AppendedMessage | None = None
    """What asks for the rest of an answer; set where the action is `continue`."""

    @property
    def is_over(self) -> bool:
        """Whether the request is over the line."""
        if self.line_tokens is None:
            return False
        least = self.line_tokens if self.line == "reached" else self.line_tokens + 1
        return self.measured_tokens >= least
