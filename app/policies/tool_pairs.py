"""Tool pairs: whether old calls and results give way to summaries of their own.

Source: docs/policies.md#goose.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSummaries:
    """Off unless a policy asks for it."""

    tool_pair_summarization: bool = False
    tool_call_cutoff: int | None = None
    """Calls that stay as they are. None: by the size of the window."""
