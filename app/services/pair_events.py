"""What a worker says of a batch of tool pairs."""

from dataclasses import dataclass

from app.services.complete import Event
from app.services.summary_bills import SummaryUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSummary:
    """What a worker says of one pair."""

    call_ids: tuple[str, ...]
    summary: str | None
    """None, or blank, where the model gave none: the pair is skipped."""
    usage: SummaryUsage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCompletion(Event):
    """A model's answers, one for each pair that it was asked about."""

    pairs: tuple[GivenSummary, ...]
