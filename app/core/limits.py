"""The limits of a model call and the decision they lead to. Every number is in tokens.

Source: docs/semantics/budget.md#limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from app.core.model_profile import ModelProfile, ProfileSource

Action: TypeAlias = Literal["submit", "compact", "wait", "blocked"]
Reason: TypeAlias = Literal[
    "under_line",
    "token_limit_reached",
    "context_overflow",
    "over_line_after_compaction",
    "compaction_failed",
    "cannot_fit",
    "unknown_window",
]
CompactionTrigger: TypeAlias = Literal["threshold", "overflow"]
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
    """What output and reasoning leave of the window."""
    auto_compact_token_limit: int | None
    """The line, before the output reserve is taken off it."""
    line_tokens: int | None
    """What input plus output reserve is compared with."""
    compact_at_input_tokens: int | None
    """The smallest input at which the session compacts."""
    reserved_output_tokens: int
    provenance: Mapping[str, LimitOrigin]

    @property
    def always_reached(self) -> bool:
        """Whether even an empty request is at the line, so that every call compacts."""
        line = self.line_tokens
        return line is not None and self.reserved_output_tokens >= line


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionCall:
    """The compaction that a decision asks for."""

    kind: CompactionTrigger
    plan_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do with a prepared request, and the two numbers compared."""

    action: Action
    reason: Reason
    measured_tokens: int
    line_tokens: int | None
    detail: str
    compaction: CompactionCall | None = None
    retry_after_ms: int | None = None
    """When to ask again, where somebody else runs the compaction."""


class Policy(Protocol):
    """The values and rules by which a session is measured and shortened."""

    @property
    def max_tool_result_tokens(self) -> int:
        """What one projected tool result may take."""

    @property
    def prune_tool_result_chars(self) -> int:
        """Code points up to which an old tool result stays whole."""

    @property
    def auto_prune(self) -> bool:
        """Whether old tool results are shortened before a compaction is asked for."""

    @property
    def tool_order(self) -> ToolOrder:
        """The order in which tools are advertised."""

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The limits of a call that reserves so much for its answer."""

    def decide(self, estimated_input_tokens: int, limits: Limits) -> Decision:
        """Whether to send a request of that size or to compact first."""
