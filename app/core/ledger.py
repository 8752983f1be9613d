"""The ledger: what providers reported of a session's calls, and what happened between them.

Source: docs/semantics/usage.md#series.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from app.core.usage_report import NO_NUMBERS, UsageNumbers

Event: TypeAlias = Literal["compaction", "model_switch", "prefix_break", "overflow"]
"""A compaction and an overflow are entries of their own; the other two mark a call's report.

A summary that was not installed is an entry without an event.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMeasures:
    """What was thought of a call when it was prepared. None is unknown."""

    estimated_tokens: int | None = None
    """JSON bytes / 4 of the whole request."""
    calibrated_tokens: int | None = None
    expected_cached_tokens: int | None = None
    """JSON bytes / 4 of what it repeats of the call before."""
    break_cause: str | None = None
    """Why it does not repeat all of the call before; None also where it does."""


UNMEASURED = CallMeasures()
"""Of a call that was not prepared here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A report, or an event between two of them."""

    ordinal: int
    """Per session, from 1, in the order of arrival."""
    at: datetime
    turn_id: str | None
    model_call: int | None
    prepared_id: str | None
    model: str
    """As the caller named it; for an event, of the request or the session."""
    requested_model: str | None
    """Of the prepared call; None where none is named."""
    window_number: int
    is_late: bool
    """Whether the report came when its window or a later call's report had passed it by."""
    event: Event | None
    cause: str | None
    numbers: UsageNumbers = NO_NUMBERS
    measures: CallMeasures = UNMEASURED
    is_estimated: bool = False
    """Whether numbers that the provider left out are estimates."""

    def switches_from(self, before: "LedgerEntry") -> bool:
        """Whether another model answered than the call before.

        Prepared calls are compared by the model that was asked for: a provider may answer under a
        dated name.
        """
        if self.requested_model is not None and before.requested_model is not None:
            return self.requested_model != before.requested_model
        return self.model != before.model
