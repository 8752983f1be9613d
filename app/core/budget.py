"""The budget of a request copy: measured on what is sent, changing nothing.

Source: docs/semantics/budget.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core.counting import tokens_of_bytes
from app.core.items import Item
from app.core.limits import Decision, Limits
from app.core.tool_surface import SystemMessage, ToolDefinition

BudgetState: TypeAlias = Literal["unknown", "ok", "warning", "danger", "over"]

WARNING_PERCENT = 75
DANGER_PERCENT = 90
"""Shares of the window at which OpenWork's own display changes its colour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionTokens:
    """Tokens of the three regions by one counter."""

    system_context: int
    conversation: int
    tool_surface: int

    @property
    def total(self) -> int:
        """All three together."""
        return self.system_context + self.conversation + self.tool_surface


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedTokens:
    """The input that a provider is expected to report, and how that was found out."""

    regions: RegionTokens
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a request takes, by the policy's estimate, the tokenizer and what was reported."""

    estimate: RegionTokens
    tokenizer: RegionTokens
    tokenizer_basis: str
    reserved_output_tokens: int
    used_percent_raw: float | None
    remaining_tokens: int | None
    """Input that may still come before the session compacts."""
    state: BudgetState
    fits: bool | None
    """Whether input and output reserve fit the window together."""
    suggested_max_output_tokens: int | None
    calibrated: CalibratedTokens | None = None
    """None where no usage was reported that tells anything."""

    @property
    def used_percent(self) -> float | None:
        """The raw share, clamped to 0 to 100."""
        raw = self.used_percent_raw
        return None if raw is None else min(100.0, max(0.0, raw))


def estimate_regions(
    system: Sequence[SystemMessage], conversation: Sequence[Item], tools: Sequence[ToolDefinition]
) -> RegionTokens:
    """JSON bytes divided by four, rounded up once per region.

    Regions count content arrays without artifacts, not roles or wrappers;
    the tools count as one array, and not at all when there are none.
    """
    return RegionTokens(
        system_context=tokens_of_bytes(sum(part.form.facts.json_bytes for part in system)),
        conversation=tokens_of_bytes(sum(item.facts.json_bytes for item in conversation)),
        tool_surface=tokens_of_bytes(array_bytes([len(tool.encoded) for tool in tools])),
    )


def tokenizer_regions(
    system: Sequence[SystemMessage], conversation: Sequence[Item], tools: Sequence[ToolDefinition]
) -> RegionTokens:
    """The sums of the tokenizer's counts, which were made when the forms were."""
    return RegionTokens(
        system_context=sum(part.form.facts.tokenizer_tokens for part in system),
        conversation=sum(item.facts.tokenizer_tokens for item in conversation),
        tool_surface=sum(tool.tokenizer_tokens for tool in tools),
    )


def array_bytes(sizes: Sequence[int]) -> int:
    """Bytes of a JSON array of elements of these sizes; 0 for an empty one."""
    return sum(sizes) + len(sizes) + 1 if sizes else 0


def make_budget(
    estimate: RegionTokens,
    tokenizer: RegionTokens,
    tokenizer_basis: str,
    limits: Limits,
    decision: Decision,
    max_output_tokens: int | None,
) -> Budget:
    """The budget of measured regions under `limits`, told of the input that was decided on."""
    window, used = limits.context_window, decision.input_tokens
    raw = None if window is None else round(100 * used / window, 2)
    suggested = None
    if window is not None and max_output_tokens is not None:
        suggested = max(0, min(max_output_tokens, window - used))
    return Budget(
        estimate=estimate,
        tokenizer=tokenizer,
        tokenizer_basis=tokenizer_basis,
        reserved_output_tokens=limits.reserved_output_tokens,
        used_percent_raw=raw,
        remaining_tokens=decision.remaining_tokens,
        state=_state(raw, decision),
        fits=None if window is None else used + limits.reserved_output_tokens <= window,
        suggested_max_output_tokens=suggested,
    )


def _state(used_percent_raw: float | None, decision: Decision) -> BudgetState:
    if used_percent_raw is None:
        return "unknown"
    if decision.is_over:
        return "over"
    if used_percent_raw >= DANGER_PERCENT:
        return "danger"
    if used_percent_raw >= WARNING_PERCENT:
        return "warning"
    return "ok"
