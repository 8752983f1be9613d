"""The setting `thinking` of Claude's APIs, and the output limit that it has to fit in.

Source: docs/semantics/encoders.md#turns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from app.encoders.repairs import RepairLog
from app.encoders.request import NeutralRequest
from app.encoders.turn_tools import begins_with_thinking
from app.encoders.turns import Part, Turn

DEFAULT_MAX_TOKENS = 4_096
"""The output limit where nobody gave one and one is needed."""
LEAST_BUDGET_TOKENS = 1_024
"""What thinking is given at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedThinking:
    """How much a model thinks and says."""

    limit: int | None
    """Of the output; None where nobody gave one and nothing thinks."""
    thinking: Part | None

    @property
    def thinks(self) -> bool:
        """Whether the model thinks."""
        return self.thinking is not None and self.thinking.get("type") != "disabled"


def fitted_thinking(
    request: NeutralRequest, turns: Sequence[Turn], log: RepairLog
) -> FittedThinking:
    """The setting as it can be sent; what cannot be is told."""
    limit, asked = request.max_output_tokens, request.generation.get("thinking")
    if not isinstance(asked, Mapping):
        if asked is not None:
            log.add("setting_dropped", None, detail="thinking")
        return FittedThinking(limit=limit, thinking=None)
    # Settings came as JSON.
    thinking = cast("Part", dict(asked))
    if thinking.get("type") == "disabled":
        return FittedThinking(limit=limit, thinking=thinking)
    budget = thinking.get("budget_tokens")
    if limit is None:
        limit = DEFAULT_MAX_TOKENS + (budget if isinstance(budget, int) else 0)
    if begins_with_thinking(turns):
        if not isinstance(budget, int) or budget < limit:
            return FittedThinking(limit=limit, thinking=thinking)
        if limit > LEAST_BUDGET_TOKENS:
            log.add("setting_dropped", None, detail="thinking.budget_tokens")
            return FittedThinking(limit=limit, thinking={**thinking, "budget_tokens": limit - 1})
    # A loop that is under way goes on as it began, and a budget needs room.
    log.add("setting_dropped", None, detail="thinking")
    return FittedThinking(limit=limit, thinking=None)
