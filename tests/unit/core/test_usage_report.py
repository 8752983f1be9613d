from dataclasses import replace

import pytest

from app.core.prefill import NO_PREFILL
from app.core.usage import NO_USAGE, Anchor, LastTotal, UsageState, UsageTotals
from app.core.usage_report import Call, UsageNumbers, counted, filled, reported

CALL = Call(model="m", through_sequence=7, reasoning_included=False)
NUMBERS = UsageNumbers(input_tokens=800, output_tokens=100, cached_input_tokens=600)
REPORTED = UsageState(
    last_total=LastTotal(tokens=900, source="observed"),
    anchor=Anchor(model="m", input_tokens=800, output_tokens=100, through_sequence=7),
    prefill=NO_PREFILL.with_usage(800),
)


@pytest.mark.parametrize(
    ("numbers", "tokens"),
    [
        (UsageNumbers(), None),
        (UsageNumbers(input_tokens=9_400), None),
        (UsageNumbers(output_tokens=90), None),
        (UsageNumbers(input_tokens=9_400, output_tokens=90), 9_490),
        (UsageNumbers(input_tokens=9_400, output_tokens=90, total_tokens=8_999), 8_999),
        (UsageNumbers(total_tokens=0), 0),
    ],
)
def test_a_total_is_taken_as_given_and_else_added_up(
    numbers: UsageNumbers, tokens: int | None
) -> None:
    assert numbers.context_tokens == tokens


def test_a_report_leaves_total_anchor_and_prefill() -> None:
    assert reported(NO_USAGE, NUMBERS, CALL) == REPORTED


def test_a_later_report_moves_total_and_anchor_and_leaves_the_prefill() -> None:
    later = replace(CALL, through_sequence=9, reasoning_included=True)
    numbers = UsageNumbers(input_tokens=950, output_tokens=10, total_tokens=970)

    assert reported(REPORTED, numbers, later) == UsageState(
        last_total=LastTotal(tokens=970, source="observed", reasoning_included=True),
        anchor=Anchor(model="m", input_tokens=950, output_tokens=10, through_sequence=9),
        prefill=NO_PREFILL.with_usage(800),
    )


def test_a_report_without_numbers_leaves_everything_as_it_was() -> None:
    assert reported(REPORTED, UsageNumbers(), replace(CALL, through_sequence=9)) == REPORTED


def test_an_input_alone_is_a_prefill_and_no_total() -> None:
    assert reported(NO_USAGE, UsageNumbers(input_tokens=5), CALL) == replace(
        NO_USAGE, prefill=NO_PREFILL.with_usage(5)
    )


def test_an_overflow_fills_a_window_that_is_known() -> None:
    full = LastTotal(tokens=10_000, source="overflow")

    assert filled(REPORTED, 10_000) == replace(REPORTED, last_total=full)
    assert filled(REPORTED, None) == REPORTED


def test_totals_add_up_what_is_known() -> None:
    once = counted(UsageTotals(), NUMBERS)
    twice = counted(once, UsageNumbers(output_tokens=5, reasoning_output_tokens=4))

    assert once == UsageTotals(
        reports=1, input_tokens=800, cached_input_tokens=600, output_tokens=100
    )
    assert twice == replace(once, reports=2, output_tokens=105, reasoning_output_tokens=4)
