"""Usage reports: what a provider said that one call took, and what the state becomes of it.

Source: docs/semantics/usage.md#reports.
"""

from dataclasses import dataclass, replace

from app.core.calibration import Report, observed
from app.core.call_size import CallSize
from app.core.errors import ContextError
from app.core.overflow_fill import fill_full
from app.core.usage import LastTotal, UsageState, UsageTotals

LARGEST_TOKENS = 2**53
"""Up to here every JSON reader keeps whole numbers exact."""


class InvalidUsage(ContextError):
    """A provider's usage object holds something that counts no tokens."""

    code = "invalid_usage"


class UsageConflict(ContextError):
    """The call was reported already, with other numbers."""

    code = "usage_conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageNumbers:
    """The tokens of one call by its provider. None is unknown, and not 0."""

    input_tokens: int | None = None
    """The whole input: parts that came from the provider's cache or went into it included."""
    cached_input_tokens: int | None = None
    """Of the input, what the provider's cache served."""
    cache_write_tokens: int | None = None
    """Of the input, what the provider's cache took in."""
    output_tokens: int | None = None
    """The whole answer, reasoning included."""
    reasoning_output_tokens: int | None = None
    """Of the output, what the caller may never have seen."""
    total_tokens: int | None = None
    """As the provider gave it."""

    @property
    def context_tokens(self) -> int | None:
        """What the context held after the call: the total as given, else input and output."""
        if self.total_tokens is not None:
            return self.total_tokens
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


NO_NUMBERS = UsageNumbers()
"""Of a call whose provider said nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The call that a report speaks of."""

    model: str
    size: CallSize | None
    """Of its request; None where it is not known any more."""
    reasoning_included: bool
    """Whether the provider counts the reasoning of earlier turns in its total."""


def reported(state: UsageState, numbers: UsageNumbers, call: Call) -> UsageState:
    """The state after the newest call of its window was reported.

    What a report leaves out stays what it was before.
    """
    total = numbers.context_tokens
    if total is not None:
        state = replace(
            state,
            last_total=LastTotal(
                tokens=total, source="observed", reasoning_included=call.reasoning_included
            ),
        )
    if numbers.input_tokens is None:
        return state
    state = replace(state, prefill=state.prefill.with_usage(numbers.input_tokens))
    if call.size is None:
        return state
    report = Report(
        model=call.model,
        input_tokens=numbers.input_tokens,
        output_tokens=numbers.output_tokens,
        reasoning_output_tokens=numbers.reasoning_output_tokens,
    )
    return replace(state, calibration=observed(state.calibration, call.size, report))


def filled(state: UsageState, window_tokens: int | None) -> UsageState:
    """The state after a provider called a request too long: full, where its size is known."""
    totals = state.totals
    full = fill_full(totals.input_tokens + totals.output_tokens, window_tokens)
    if full is None:
        return state
    last_total = LastTotal(tokens=full.last_total_tokens, source="overflow")
    return replace(state, last_total=last_total)


def counted(totals: UsageTotals, numbers: UsageNumbers) -> UsageTotals:
    """The totals with one more report. What it leaves out adds nothing."""
    return replace(billed(totals, numbers), reports=totals.reports + 1)


def billed(totals: UsageTotals, numbers: UsageNumbers) -> UsageTotals:
    """The totals with one more call that is no report of the session's own."""
    return UsageTotals(
        reports=totals.reports,
        input_tokens=totals.input_tokens + (numbers.input_tokens or 0),
        cached_input_tokens=totals.cached_input_tokens + (numbers.cached_input_tokens or 0),
        cache_write_tokens=totals.cache_write_tokens + (numbers.cache_write_tokens or 0),
        output_tokens=totals.output_tokens + (numbers.output_tokens or 0),
        reasoning_output_tokens=totals.reasoning_output_tokens
        + (numbers.reasoning_output_tokens or 0),
    )
