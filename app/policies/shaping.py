"""Shaping: how a policy makes old messages shorter, beside prune's own length.

Source: docs/policies.md#shaping.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from app.core.shaping import (
    CacheState,
    Cut,
    DuplicateCallIds,
    InvalidArguments,
    OldThinking,
    PairingRule,
    RepeatedResults,
    Retention,
    UnsupportedData,
)
from app.core.trimming import KEEP_ALL, Trimming
from app.core.truncation import Truncation

PruneWhen: TypeAlias = Literal["at_line", "cache_cold"]

DEFAULT_CACHE_SECONDS = 300
"""How long Anthropic's prompt cache holds a request; the others' hold it as long or longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """Rules that are all off by default."""

    tool_retention: Mapping[str, Retention] = field(default_factory=dict)
    old_call_argument_chars: int | None = None
    drop_old_thinking: OldThinking = "keep"
    repeated_results: RepeatedResults = "keep"
    tool_output_truncation: Truncation | None = None
    max_images: int | None = None
    invalid_arguments: InvalidArguments = "keep"
    duplicate_call_ids: DuplicateCallIds = "refuse"
    unsupported_data: UnsupportedData = "refuse"
    cut: Cut = "text"
    context_policy: Trimming = KEEP_ALL
    pairing: PairingRule = "synthesise"
    prune_when: PruneWhen = "at_line"
    cache_ttl_seconds: int = DEFAULT_CACHE_SECONDS

    def prunes_under_line(self, cache: CacheState) -> bool:
        """Whether a move costs nothing that the provider still has."""
        return self.prune_when == "cache_cold" and cache == "cold"
