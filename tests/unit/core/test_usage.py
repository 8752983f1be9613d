from dataclasses import replace

import pytest

from app.core import canonical
from app.core.calibration import Anchor, Calibration, ModelRatio, Report
from app.core.model_profile import ModelProfile, ProfileOrigin
from app.core.prefill import NO_PREFILL
from app.core.usage import (
    NO_USAGE,
    LastTotal,
    UsageState,
    usage_from_json,
    usage_json,
)

PROFILE = ModelProfile(
    name="m",
    context_window=1_000,
    comp_hash="a",
    origin=ProfileOrigin(source="catalogue", why="published"),
)
RATIO = ModelRatio(
    model="m", basis="length/1", observed_tokens=300, estimated_tokens=256, reports=2
)
FULL = UsageState(
    last_total=LastTotal(tokens=900, source="observed", reasoning_included=True),
    calibration=Calibration(
        anchor=Anchor(
            report=Report(model="m", input_tokens=800, output_tokens=100),
            basis="length/1",
            through_sequence=7,
            tokens=790,
        ),
        ratios=(RATIO,),
        has_doubt=True,
    ),
    prefill=NO_PREFILL.with_usage(300),
    answered_by=PROFILE,
    new_context_requested=True,
    is_reminded=True,
)


@pytest.mark.parametrize("state", [NO_USAGE, FULL, replace(NO_USAGE, answered_by=PROFILE)])
def test_a_usage_state_comes_back_from_its_bytes(state: UsageState) -> None:
    data = canonical.encode(usage_json(state))

    assert usage_from_json(canonical.decode(data)) == state


def test_a_new_window_knows_its_estimate_and_nothing_that_was_reported_before() -> None:
    other = replace(PROFILE, name="n")

    assert FULL.in_new_window(400, 400, other) == UsageState(
        last_total=LastTotal(tokens=400, source="estimated"),
        calibration=Calibration(ratios=(RATIO,)),
        prefill=NO_PREFILL.with_estimate(400),
        answered_by=other,
        new_context_requested=False,
        is_reminded=False,
    )
