"""The share of a summary: one that is written again and again never grows past it.

Source: docs/semantics/awaken.md#a-rolling-summary.
"""

from app.compaction.summary_check import SummaryAccepted, SummaryCheck, SummaryRejected
from app.core.counting import BYTES_PER_TOKEN, tokens_of_bytes
from app.core.text import prefix_within
from app.core.truncation import Truncation, truncate

SUMMARY_SHARE_PERCENT = 20
"""Of the window: a summary and what it leaves room for have to fit many times over."""

_MARKER_BYTES = 48
"""More than any marker that `truncate` puts in a text of less than 10^20 characters."""


def summary_cap(window_tokens: int, share_percent: int = SUMMARY_SHARE_PERCENT) -> int:
    """Tokens that a summary may take, rounded down."""
    return max(0, window_tokens) * share_percent // 100


def within_share(summary: str, cap_tokens: int, attempts_left: int) -> SummaryCheck:
    """The summary if it is within its share, else a rejection, and at last its cut form.

    A rejection tells the model how much shorter to be. When nobody can be
    asked again the middle goes, marker included within the cap, so that the
    next summary stands on no more than this one.

    Args:
        summary: That passed its own check.
        cap_tokens: Of `summary_cap`; a token is four bytes.
        attempts_left: How often the model can still be asked.
    """
    tokens = tokens_of_bytes(len(summary.encode()))
    if tokens <= cap_tokens:
        return SummaryAccepted(summary=summary)
    if attempts_left > 0:
        return SummaryRejected(
            reason=f"summary took {tokens} tokens, more than its share of {cap_tokens}"
        )
    return SummaryAccepted(summary=_cut(summary, cap_tokens * BYTES_PER_TOKEN))


def _cut(summary: str, cap_bytes: int) -> str:
    room = cap_bytes - _MARKER_BYTES
    if room <= 0:
        return prefix_within(summary.encode(), cap_bytes).decode()
    return truncate(summary, Truncation(mode="bytes", limit=room))
