from dataclasses import replace

import pytest

from app.core.model_profile import ModelProfile
from app.core.usage import NO_USAGE, LastTotal, UsageTotals
from app.core.usage_fill import filled_usage
from app.core.usage_report import NO_NUMBERS, Call, UsageNumbers, billed, counted, reported

PROFILE = ModelProfile(name="m", context_window=1_000)
CASES = [
    pytest.param(NO_NUMBERS, (50, 9, 59), id="S2"),
    pytest.param(UsageNumbers(output_tokens=900), (50, 900, 950), id="S4 the raw answer is billed"),
    pytest.param(UsageNumbers(input_tokens=7), (7, 9, 16), id="the output alone is estimated"),
    pytest.param(
        UsageNumbers(input_tokens=7, output_tokens=2, total_tokens=99), (7, 2, 9),
        id="the sum takes a total's place",
    ),
    pytest.param(UsageNumbers(input_tokens=0, output_tokens=0), (0, 0, 0), id="0 is a number"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "numbers"), CASES)
def test_missing_usage_is_estimated(given: UsageNumbers, numbers: tuple[int, int, int]) -> None:
    made = filled_usage(given, input_estimate=50, output_estimate=9)

    assert (made.input_tokens, made.output_tokens, made.total_tokens) == numbers


def test_S1_after_a_compaction_the_context_is_what_is_retained_and_its_call_is_billed() -> None:
    before = replace(
        NO_USAGE,
        last_total=LastTotal(tokens=1_000, source="observed"),
        totals=UsageTotals(reports=1, input_tokens=600, output_tokens=400),
    )
    summary = UsageNumbers(input_tokens=6_700, output_tokens=200)
    after = before.in_new_window(70, 70, PROFILE)
    totals = billed(after.totals, summary)

    assert after.last_total == LastTotal(tokens=70, source="estimated")
    assert totals == UsageTotals(reports=1, input_tokens=7_300, output_tokens=600)


def test_S6_the_next_call_is_the_context_again() -> None:
    numbers = filled_usage(UsageNumbers(input_tokens=6_300, output_tokens=100), 0, 0)
    call = Call(model="m", size=None, reasoning_included=False)
    state = reported(NO_USAGE.in_new_window(70, 70, PROFILE), numbers, call)
    totals = counted(state.totals, numbers)

    assert state.last_total == LastTotal(tokens=6_400, source="observed")
    assert (totals.input_tokens, totals.output_tokens) == (6_300, 100)
