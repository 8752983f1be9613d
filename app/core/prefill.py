"""The prefill baseline: what a window held before the session grew in it.

Every window starts without one. An estimate stands until the provider
reports the input of the window's first call, which then stays.

Source: docs/semantics/codex.md#the-prefill-baseline.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

PrefillSource: TypeAlias = Literal["none", "estimated", "observed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefill:
    """The baseline of one window: absolute input tokens, not growth."""

    source: PrefillSource
    input_tokens: int | None
    """Never negative; None where nothing is known."""

    def with_estimate(self, tokens: int) -> "Prefill":
        """The baseline after an estimate, which never replaces what was observed."""
        if self.source == "observed":
            return self
        return replace(self, source="estimated", input_tokens=max(0, tokens))

    def with_usage(self, input_tokens: int) -> "Prefill":
        """The baseline after a reported call; only the window's first report counts."""
        if self.source == "observed":
            return self
        return replace(self, source="observed", input_tokens=max(0, input_tokens))


NO_PREFILL = Prefill(source="none", input_tokens=None)
"""The baseline of a window that has just begun, also after a compaction."""
