"""Attempts: how a pending compaction goes on, or ends, after an event.

Source: docs/semantics/compaction.md#the-protocol.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from app.compaction.record import Compaction, Rung
from app.compaction.style import Style
from app.services.compaction_answers import failed_answer, pending_answer

RETRIES_EXHAUSTED = "summary_retries_exhausted"

Change: TypeAlias = tuple[Compaction, Mapping[str, object], Rung | None]
"""A changed compaction, the answer, and the rung of the summary request in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One move of a pending compaction."""

    compaction: Compaction
    style: Style
    now: datetime
    claim_ends: datetime

    def next_attempt(self, rejected: str | None, rung: Rung, max_attempts: int) -> Change:
        """Ask once more, on a rung."""
        claim = self.compaction.claim
        following = replace(
            self.compaction,
            attempt=self.compaction.attempt + 1,
            max_attempts=max_attempts,
            rung=rung,
            claim=None if claim is None else replace(claim, expires_at=self.claim_ends),
            updated_at=self.now,
        )
        return following, pending_answer(following, rejected), rung

    def failed(self, code: str, detail: str | None) -> Change:
        """End without a summary."""
        failed = replace(
            self.compaction, status="failed", failure_code=code, claim=None, updated_at=self.now
        )
        return failed, failed_answer(failed, code, detail), None
