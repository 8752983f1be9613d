from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import CalibratedTokens, RegionTokens
from app.core.calibration import NOTHING_REPORTED, Report, observed, predict
from app.core.call_size import CallSize
from app.core.engine import prepare
from app.core.shares import calibrated_tokens, share
from app.core.usage import UsageState
from tests.unit.core.builders import READ, assistant, prepare_input, stored, user

ITEMS = stored(user("a question"), assistant("an answer"), user("another question"))


def reported(regions: RegionTokens, seen: int) -> tuple[CallSize, CalibratedTokens | None]:
    call = CallSize(
        basis="length/1", through_sequence=0, regions=regions, after_sequence=None, answer=None
    )
    report = Report(model="a", input_tokens=seen, output_tokens=0)
    again = replace(call, after_sequence=0)
    return again, calibrated_tokens(
        again, predict(observed(NOTHING_REPORTED, call, report), "a", again)
    )


@given(st.tuples(*[st.integers(0, 2**40)] * 3), st.integers(0, 2**40))
def test_the_regions_add_up_to_what_is_predicted(sizes: tuple[int, int, int], seen: int) -> None:
    system, conversation, tools = sizes
    _, calibrated = reported(
        RegionTokens(system_context=system, conversation=conversation, tool_surface=tools), seen
    )

    assert calibrated is not None
    # Two halves may both be rounded up where there is no conversation to take the rest.
    assert 0 <= calibrated.regions.total - seen <= 1


def test_a_prepared_call_is_calibrated_by_what_was_reported_of_the_one_before() -> None:
    first = prepare(prepare_input(*ITEMS[:1], tools=[READ]))
    report = Report(model="model-1", input_tokens=2 * first.size.tokens, output_tokens=20)
    calibration = observed(NOTHING_REPORTED, first.size, report)
    usage = UsageState(calibration=calibration)
    given_input = replace(prepare_input(*ITEMS, tools=[READ]), usage=usage)
    call = prepare(given_input)

    assert first.budget.calibrated is None
    assert first.prediction is None
    assert call.prediction is not None
    assert call.budget.calibrated is not None
    assert call.prediction.tokens == report.input_tokens + 20 + len("another question") + 4
    assert call.budget.calibrated.regions.total == call.prediction.tokens
    assert call.budget.calibrated.basis == call.prediction.basis
    assert share(call.size.tokens, call.size, call.prediction) == call.prediction.tokens
    # The request and the decision do not depend on what was reported.
    assert (
        call.request_fragments() == prepare(prepare_input(*ITEMS, tools=[READ])).request_fragments()
    )
    assert call.decision == prepare(prepare_input(*ITEMS, tools=[READ])).decision
