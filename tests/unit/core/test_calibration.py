"""What the next call will be reported with, from what was reported before."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import RegionTokens
from app.core.calibration import (
    HIGHEST_RATIO,
    KEPT_MODELS,
    LOWEST_RATIO,
    NOTHING_REPORTED,
    Anchor,
    Calibration,
    ModelRatio,
    Report,
    calibration_from_json,
    calibration_json,
    observed,
    predict,
)
from app.core.call_size import Answer, CallSize

BASIS = "length/1"


def size(
    tokens: int, through: int = 1, after: int | None = None, answer: Answer | None = None
) -> CallSize:
    return CallSize(
        basis=BASIS,
        through_sequence=through,
        regions=RegionTokens(system_context=0, conversation=tokens, tool_surface=0),
        after_sequence=after,
        answer=answer,
    )


def report(
    tokens: int, output: int | None = 0, *, reasoning: int | None = None, model: str = "a"
) -> Report:
    return Report(
        model=model,
        input_tokens=tokens,
        output_tokens=output,
        reasoning_output_tokens=reasoning,
    )


def ratio(value: float, *, model: str = "a", basis: str = BASIS, returns: int = 0) -> ModelRatio:
    return ModelRatio(
        model=model,
        basis=basis,
        observed_tokens=round(10_000 * value),
        estimated_tokens=10_000,
        reports=9,
        returns=returns,
    )


def anchored(
    at: Report, *ratios: ModelRatio, tokens: int = 1_000, has_doubt: bool = False
) -> Calibration:
    anchor = Anchor(report=at, basis=BASIS, through_sequence=1, tokens=tokens)
    return Calibration(anchor=anchor, ratios=ratios or (ratio(1.0),), has_doubt=has_doubt)


def tokens(calibration: Calibration, call: CallSize, model: str = "a") -> int:
    prediction = predict(calibration, model, call)
    assert prediction is not None
    return prediction.tokens


def text(
    count: int, *, calls: int = 0, is_settled: bool = True, has_reasoning: bool = False
) -> Answer:
    return Answer(tokens=count, calls=calls, is_settled=is_settled, has_reasoning=has_reasoning)


KEPT = text(100, has_reasoning=True)
"""An answer of which the request holds the reasoning too."""


def test_nothing_is_predicted_before_a_report() -> None:
    assert predict(NOTHING_REPORTED, "a", size(1_000)) is None
    assert NOTHING_REPORTED.through_sequence is None


def test_the_next_input_is_the_last_one_its_output_and_the_scaled_rest() -> None:
    calibration = anchored(report(9_000, 150), ratio(1.2))
    prediction = predict(calibration, "a", size(1_300, 3, 1, text(100)))

    assert prediction is not None
    assert prediction.tokens == 9_000 + 150 + round(200 * 1.2)
    assert (prediction.answer_tokens, prediction.later_tokens) == (150, 200)
    assert prediction.basis == (
        "reported input 9000 of a through message 1 + answer 150"
        " + 200 estimated tokens x 1.200 (9 reports of a, bounds 0.5 to 2.0)"
    )


def test_a_request_that_was_pruned_since_is_predicted_smaller() -> None:
    assert tokens(anchored(report(9_000), ratio(2.0)), size(600, 1, 1)) == 9_000 - 800
    assert tokens(anchored(report(100), ratio(2.0)), size(0, 1, 1)) == 0


def test_an_answer_that_was_not_kept_does_not_come_back() -> None:
    assert tokens(anchored(report(9_000, 150)), size(1_000, 1, 1)) == 9_000


@pytest.mark.parametrize(
    ("given", "answer", "returns", "comes_back"),
    [
        pytest.param(report(0, 150), text(100), 0, 150, id="TC10 as reported"),
        pytest.param(report(0, None), text(100), 0, 100, id="no output reported"),
        pytest.param(report(0, 1), text(100), 0, 100, id="cut off, but all of it is text"),
        pytest.param(
            report(0, 1), text(100, is_settled=False), 0, 1, id="cut off with calls that never ran"
        ),
        pytest.param(report(0, 264), text(100), 0, 264, id="the frame of the answer"),
        pytest.param(report(0, 265), text(100), 0, 100, id="TC10 more than any frame"),
        pytest.param(report(0, 328), text(100, calls=1), 0, 328, id="the frame of a call"),
        pytest.param(report(0, 264), text(100), -1, 100, id="no frame, it stayed behind"),
        pytest.param(report(0, 900), text(100), 1, 900, id="more than is seen, it came back"),
        pytest.param(report(0, 900), KEPT, 0, 900, id="TC10 reasoning that the request holds"),
        pytest.param(report(0, 900), KEPT, -1, 100, id="held, but it stayed behind"),
        pytest.param(report(0, 900, reasoning=790), KEPT, 0, 900, id="held, told apart"),
        pytest.param(report(0, 900, reasoning=790), KEPT, -1, 110, id="told apart, stayed behind"),
        pytest.param(report(0, 900, reasoning=790), text(100), 0, 110, id="TC10 reasoning apart"),
        pytest.param(report(0, 900, reasoning=790), text(100), -1, 110, id="reasoning stayed"),
        pytest.param(report(0, 900, reasoning=790), text(100), 1, 900, id="reasoning came back"),
        pytest.param(report(0, 150, reasoning=0), text(100), 0, 150, id="no reasoning"),
    ],
)
def test_the_part_of_an_output_that_comes_back(
    given: Report, answer: Answer, returns: int, comes_back: int
) -> None:
    calibration = anchored(given, ratio(1.0, returns=returns))

    assert tokens(calibration, size(1_000 + answer.tokens, 2, 1, answer)) == comes_back


@pytest.mark.parametrize(("grown", "returns"), [(900 + 50, 1), (100 + 50, -1)])
def test_where_hidden_output_goes_is_learned(grown: int, returns: int) -> None:
    calibration = anchored(report(9_000, 900), ratio(1.0))
    for sequence in range(2, 7):
        call = size(1_000 + 150 * (sequence - 1), sequence, sequence - 1, text(100))
        seen = 9_000 + grown * (sequence - 1)
        calibration = observed(calibration, call, report(seen, 900))

    assert calibration.ratios[0].returns == 3 * returns
    assert calibration.ratios[0].value == 1.0


def test_a_difference_within_the_noise_is_no_vote() -> None:
    calibration = anchored(report(9_000, 250), ratio(1.0))
    call = size(1_000 + 100 + 5_000, 2, 1, text(100))

    assert observed(calibration, call, report(14_100)).ratios[0].returns == 0


def test_the_ratio_follows_what_is_reported_of_later_items() -> None:
    first = observed(NOTHING_REPORTED, size(1_000), report(1_000))
    second = observed(first, size(6_000, 2, 1), report(7_500))
    third = observed(second, size(11_000, 3, 2), report(14_000))

    assert first.ratios[0].value == 1.0
    # 256 tokens at 1 and, bounded in weight, 1 024 at 1.3.
    assert second.ratios[0].value == pytest.approx(1.24, abs=0.001)
    assert third.ratios[0].value == pytest.approx(1.27, abs=0.01)
    assert third.ratios[0].reports == 3
    assert third.anchor == Anchor(
        report=report(14_000), basis=BASIS, through_sequence=3, tokens=11_000
    )


@pytest.mark.parametrize(
    ("whole", "value"),
    [
        pytest.param(1_300, 1.3, id="all of it is known"),
        pytest.param(1_501, 1.0, id="a prompt that we do not have"),
        pytest.param(600, 1.0, id="not the whole input"),
    ],
)
def test_a_first_report_tells_a_ratio_where_the_request_is_all_there_is(
    whole: int, value: float
) -> None:
    calibration = observed(NOTHING_REPORTED, size(1_000), report(whole))

    assert calibration.ratios[0].value == pytest.approx(value, abs=0.001)


def test_TC8_a_new_window_forgets_the_input_and_keeps_the_ratio() -> None:
    calibration = anchored(report(150_000), ratio(1.25)).in_new_window()
    prediction = predict(calibration, "a", size(8_000, 40))

    assert prediction is not None
    assert (prediction.tokens, prediction.anchor) == (10_000, None)
    assert prediction.basis.startswith("no report in this window: 8000 estimated tokens x 1.250")
    again = observed(calibration, size(8_000, 40), report(10_400))
    assert again.through_sequence == 40
    assert again.ratios == calibration.ratios


def test_a_report_of_an_older_call_changes_nothing() -> None:
    calibration = replace(
        anchored(report(9_000)),
        anchor=Anchor(report=report(9_000), basis=BASIS, through_sequence=9, tokens=1_000),
    )

    assert observed(calibration, size(900, 8, 5), report(8_000)) is calibration


def test_a_call_that_was_sized_for_another_report_teaches_nothing() -> None:
    calibration = anchored(report(9_000))
    again = observed(calibration, size(1_500, 2, 0), report(9_900))

    assert again.ratios == calibration.ratios
    assert again.through_sequence == 2


def test_an_absurd_report_is_believed_only_when_it_comes_twice() -> None:
    calibration = anchored(report(50_000), ratio(1.1))
    once = observed(calibration, size(1_100, 2, 1), report(127_000_000))
    after = observed(once, size(1_200, 3, 1), report(50_220))
    twice = observed(once, size(1_200, 3, 1), report(127_000_000))

    assert once == replace(calibration, has_doubt=True)
    assert tokens(once, size(1_200, 3, 1)) == 50_220
    assert (after.through_sequence, after.has_doubt) == (3, False)
    assert twice.anchor is not None
    assert twice.anchor.report.input_tokens == 127_000_000
    assert twice.ratios == calibration.ratios


def test_a_new_window_doubts_nothing() -> None:
    assert not anchored(report(1), has_doubt=True).in_new_window().has_doubt


def test_another_model_has_its_own_ratio_and_converts_the_input() -> None:
    calibration = anchored(report(12_500, 0, model="a"), ratio(1.25), ratio(1.0, model="b"))

    assert tokens(calibration, size(1_100, 2, 1), "a") == 12_500 + 125
    assert tokens(calibration, size(1_100, 2, 1), "b") == 10_000 + 100


def test_a_model_without_reports_borrows_the_ratio_before_it() -> None:
    calibration = anchored(report(12_500), ratio(1.25))

    assert tokens(calibration, size(1_100, 2, 1), "new") == 12_500 + 125
    switched = observed(calibration, size(1_100, 2, 1), report(12_600, model="new"))
    assert [known.model for known in switched.ratios] == ["a", "new"]


def test_counts_of_another_basis_are_not_compared() -> None:
    other = replace(size(1_100, 2, 1), basis="other/1")
    calibration = anchored(report(9_000))

    assert predict(calibration, "a", other) is None
    changed = observed(calibration, other, report(9_300))
    assert changed.anchor is not None
    assert (changed.anchor.basis, changed.ratios[-1].value) == ("other/1", 1.0)
    assert changed.ratios[0] == calibration.ratios[0]


def test_the_models_used_last_are_kept() -> None:
    calibration = NOTHING_REPORTED
    for number, model in enumerate("abcdefa"):
        call = size(1_000, number, calibration.through_sequence)
        calibration = observed(calibration, call, report(1_000, model=model))

    assert [known.model for known in calibration.ratios] == ["d", "e", "f", "a"]
    assert len(calibration.ratios) == KEPT_MODELS


def test_B101_the_number_moves_with_the_conversation_and_never_jumps() -> None:
    """Long answers and short ones: what was output is input afterwards."""
    calibration, total, answer = NOTHING_REPORTED, 60_000, None
    seen, predicted = [], []
    for sequence, written in enumerate((30_000, 20, 20, 5_000, 20), start=1):
        call = size(total, sequence, calibration.through_sequence, answer)
        if sequence > 1:
            predicted.append(tokens(calibration, call))
        seen.append(total)
        calibration = observed(calibration, call, report(total, written))
        total, answer = total + written + 50, text(written)

    assert predicted == seen[1:] == [90_050, 90_120, 90_190, 95_240]


MODELS = st.sampled_from(["a", "b"])
COUNTS = st.integers(0, 2**63)
ANSWERS = st.none() | st.builds(
    Answer,
    tokens=st.integers(0, 2**40),
    calls=st.integers(0, 9),
    is_settled=st.booleans(),
    has_reasoning=st.booleans(),
)
REPORTS = st.builds(
    Report,
    model=MODELS,
    input_tokens=COUNTS,
    output_tokens=st.none() | COUNTS,
    reasoning_output_tokens=st.none() | COUNTS,
)
STEPS = st.tuples(REPORTS, st.integers(0, 2**40), ANSWERS, st.booleans())


def after(steps: list[tuple[Report, int, Answer | None, bool]]) -> Calibration:
    calibration = NOTHING_REPORTED
    for sequence, (given_report, total, answer, is_new_window) in enumerate(steps, start=1):
        if is_new_window:
            calibration = calibration.in_new_window()
        call = size(total, sequence, calibration.through_sequence, answer)
        calibration = observed(calibration, call, given_report)
    return calibration


@given(st.lists(STEPS, max_size=12), st.integers(0, 2**40), ANSWERS, MODELS)
def test_whatever_is_reported_the_number_has_bounds(
    steps: list[tuple[Report, int, Answer | None, bool]],
    total: int,
    answer: Answer | None,
    model: str,
) -> None:
    calibration = after(steps)
    prediction = predict(calibration, model, size(total, 99, calibration.through_sequence, answer))

    assert (prediction is None) == (not steps)
    assert len(calibration.ratios) <= KEPT_MODELS
    for known in calibration.ratios:
        assert LOWEST_RATIO <= known.value <= HIGHEST_RATIO
        assert -3 <= known.returns <= 3
        assert known.estimated_tokens <= 32_768
    if prediction is not None:
        assert prediction.tokens >= 0


@given(st.lists(STEPS, min_size=1, max_size=8), st.integers(0, 2**40), st.integers(0, 2**40))
def test_a_larger_request_is_never_predicted_smaller(
    steps: list[tuple[Report, int, Answer | None, bool]], total: int, more: int
) -> None:
    calibration = after(steps)
    after_sequence = calibration.through_sequence

    assert tokens(calibration, size(total, 99, after_sequence)) <= tokens(
        calibration, size(total + more, 99, after_sequence)
    )


@given(st.integers(0, 2**63), st.integers(1, 2**40))
def test_one_report_moves_a_settled_ratio_by_less_than_a_third(seen: int, grown: int) -> None:
    settled = anchored(report(50_000), ratio(1.0))
    moved = observed(settled, size(1_000 + grown, 2, 1), report(seen)).ratios[0].value

    assert 0.75 <= moved <= 1.5


@given(st.lists(STEPS, max_size=6))
def test_a_calibration_survives_json(
    steps: list[tuple[Report, int, Answer | None, bool]],
) -> None:
    calibration = after(steps)

    assert calibration_from_json(json.loads(json.dumps(calibration_json(calibration)))) == (
        calibration
    )


def test_a_part_of_what_a_provider_counts_teaches_nothing_and_is_not_predicted() -> None:
    learned = Calibration(ratios=(ratio(1.2),))
    part = replace(size(100, through=4), is_whole=False)
    after = observed(learned, part, report(9_000))

    assert after.ratios == learned.ratios
    assert after.through_sequence == 4
    assert predict(learned, "a", part) is None
    assert predict(after, "a", size(1_000, through=6, after=4)) == predict(
        learned, "a", size(1_000, through=6, after=4)
    )
    assert calibration_from_json(json.loads(json.dumps(calibration_json(after)))) == after
