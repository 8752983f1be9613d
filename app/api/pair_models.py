"""Batches of tool pairs on the wire."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from app.api.answers import Answer
from app.api.prepare_models import RequestOut
from app.api.responses import spliced
from app.api.summary_usage import SummaryUsageIn
from app.api.validation import WireModel
from app.compaction.record import Plan
from app.compaction.summary_request import SummaryRequest
from app.core import canonical
from app.services.pair_batches import AskedPair
from app.services.pair_events import GivenSummary


class PairSummaryIn(WireModel):
    """What a model said of one pair; without a summary the pair is skipped."""

    call_ids: list[str] = Field(min_length=1)
    summary: str | None = None
    usage: SummaryUsageIn | None = None

    def given(self) -> GivenSummary:
        """The summary as the services take it.

        Raises:
            InvalidUsage: The provider's usage object is none.
        """
        return GivenSummary(
            call_ids=tuple(self.call_ids),
            summary=self.summary,
            usage=None if self.usage is None else self.usage.usage(),
        )


class PairOut(BaseModel):
    """Tool calls of one message and their results, and what a model is asked of them."""

    call_ids: list[str]
    message_ids: list[str | None]
    indexes: list[int] | None = Field(default=None, description="Into a given conversation.")
    summary_request: RequestOut | None = None


def planned_pairs_answer(plan: Plan | None) -> Answer:
    """The pairs of a batch without their requests; nothing of any other compaction."""
    if plan is None or not plan.pairs:
        return {}
    pairs = [
        {"call_ids": list(pair.call_ids), "message_ids": list(pair.message_ids)}
        for pair in plan.pairs
    ]
    return {"pairs": pairs}


def with_asked_pairs(before: bytes, asked: Sequence[AskedPair]) -> bytes:
    """An answer with the pairs and their requests."""
    pairs = [
        pair_bytes(
            {
                "call_ids": list(each.pair.call_ids),
                "message_ids": list(each.pair.message_ids),
            },
            each.request,
        )
        for each in asked
    ]
    return with_pairs(before, pairs)


def pair_bytes(about: Answer, request: SummaryRequest) -> bytes:
    """A pair with its request."""
    return spliced(canonical.encode(about), "summary_request", [request.body])


def with_pairs(before: bytes, pairs: Sequence[bytes]) -> bytes:
    """An answer with pairs that are written already."""
    return spliced(before, "pairs", [b"[", b",".join(pairs), b"]"])
