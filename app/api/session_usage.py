"""The usage of a session on the wire: what it holds, and what it took so far."""

from dataclasses import asdict

from pydantic import BaseModel

from app.api.answers import Answer
from app.core.calibration import Calibration
from app.core.prefill import PrefillSource
from app.core.usage import TotalSource, UsageState


class LastTotalOut(BaseModel):
    """What the context holds, as far as it is known."""

    tokens: int
    source: TotalSource
    reasoning_included: bool


class LastCallOut(BaseModel):
    """The last call of this window that was reported in full."""

    model: str
    input_tokens: int
    output_tokens: int | None
    through_sequence: int


class UsageTotalsOut(BaseModel):
    """What all reports of a session add up to."""

    reports: int
    input_tokens: int
    cached_input_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_output_tokens: int


class SessionUsageOut(BaseModel):
    """What providers reported of a session's calls. Unknown is null."""

    last_total: LastTotalOut | None
    last_call: LastCallOut | None
    prefill_input_tokens: int | None
    prefill_source: PrefillSource
    new_context_requested: bool
    totals: UsageTotalsOut


def session_usage_answer(state: UsageState) -> Answer:
    """What a session is known to hold, as answers have it."""
    return {
        "last_total": None if state.last_total is None else asdict(state.last_total),
        "last_call": _last_call(state.calibration),
        "prefill_input_tokens": state.prefill.input_tokens,
        "prefill_source": state.prefill.source,
        "new_context_requested": state.new_context_requested,
        "totals": asdict(state.totals),
    }


def _last_call(calibration: Calibration) -> Answer | None:
    anchor = calibration.anchor
    if anchor is None:
        return None
    report = anchor.report
    return {
        "model": report.model,
        "input_tokens": report.input_tokens,
        "output_tokens": report.output_tokens,
        "through_sequence": anchor.through_sequence,
    }
