"""The refusals of the compaction protocol: what is asked does not fit the session's state.

Source: docs/errors.md.
"""

from app.core.errors import ContextError


class SessionActive(ContextError):
    """A turn is running, so nobody else may replace what its model sees."""

    code = "session_active"


class TurnNotRunning(ContextError):
    """A compaction inside a turn needs that turn to be running."""

    code = "turn_not_running"


class AlreadyCompactedInCall(ContextError):
    """A model call is compacted at most once, failed attempts included."""

    code = "already_compacted_in_call"


class CompactionInProgress(ContextError):
    """A compaction with another plan is under way."""

    code = "compaction_in_progress"


class CompactionClosed(ContextError):
    """The compaction has ended, and not with what is said now."""

    code = "compaction_closed"


class ClaimLost(ContextError):
    """The report is under no claim of this compaction, or on another attempt than the current."""

    code = "claim_lost"


class CompactionNotRestorable(ContextError):
    """A compaction without an anchor cannot be gone back to."""

    code = "compaction_not_restorable"


class CompactionNotCurrent(ContextError):
    """Only the compaction whose view is shown can be undone."""

    code = "compaction_not_current"


class InvalidBoundary(ContextError):
    """The session has no such sequence."""

    code = "invalid_boundary"


class HistoryReplaced(ContextError):
    """The caller appends to a view that is no longer the one shown."""

    code = "history_replaced"


class NoCompaction(ContextError):
    """The session has no compaction to read back."""

    code = "no_compaction"


class SummarizerNotConfigured(ContextError):
    """The service is asked to run a compaction, and has no summarizer."""

    code = "summarizer_not_configured"


class InvalidPage(ContextError):
    """A page of the history is asked for that cannot be."""

    code = "invalid_page"
