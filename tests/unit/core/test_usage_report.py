from dataclasses import replace

import pytest

from app.core.budget import RegionTokens
from app.core.calibration import NOTHING_REPORTED, Report, observed
from app.core.call_size import CallSize
from app.core.prefill import NO_PREFILL
from app.core.usage import NO_USAGE, LastTotal, UsageState, UsageTotals
from app.core.usage_report import Call, UsageNumbers, counted, filled, reported

SIZE = CallSize(
    basis="length/1",
    through_sequence=7,
    regions=RegionTokens(system_context=0, conversation=790, tool_surface=0),
    after_sequence=None,
    answer=None,
)
LATER = replace(SIZE, through_sequence=9, after_sequence=7)
CALL = Call(model="m", size=SIZE, reasoning_included=False)
NUMBERS = UsageNumbers(input_tokens=800, output_tokens=100, cached_input_tokens=600)
REPORTED = UsageState(
    last_total=LastTotal(tokens=900, source="observed"),
    calibration=observed(
        NOTHING_REPORTED, SIZE, Report(model="m", input_tokens=800, output_tokens=100)
    ),
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
    later = replace(CALL, size=LATER, reasoning_included=True)
    numbers = UsageNumbers(input_tokens=950, output_tokens=10, total_tokens=970)

    assert reported(REPORTED, numbers, later) == UsageState(
        last_total=LastTotal(tokens=970, source="observed", reasoning_included=True),
        calibration=observed(
            REPORTED.calibration, LATER, Report(model="m", input_tokens=950, output_tokens=10)
        ),
        prefill=NO_PREFILL.with_usage(800),
    )


def test_a_report_without_numbers_leaves_everything_as_it_was() -> None:
    assert reported(REPORTED, UsageNumbers(), replace(CALL, size=LATER)) == REPORTED


def test_an_input_alone_is_a_prefill_and_no_total() -> None:
    made = reported(NO_USAGE, UsageNumbers(input_tokens=5), CALL)

    assert (made.last_total, made.prefill) == (None, NO_PREFILL.with_usage(5))
    assert made.calibration.through_sequence == 7


def test_a_call_whose_size_is_unknown_anchors_nothing() -> None:
    made = reported(NO_USAGE, NUMBERS, replace(CALL, size=None))

    assert made == replace(REPORTED, calibration=NOTHING_REPORTED)


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
