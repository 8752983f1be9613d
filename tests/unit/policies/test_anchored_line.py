from dataclasses import replace

import pytest

from app.core.limits import Limits
from app.core.model_profile import ModelProfile, unknown_profile
from app.core.policy import Measured, ShownItems
from app.core.usage import NO_USAGE
from app.policies.anchored_line import AnchoredLine

LINE = AnchoredLine()


def profile(window: int, output: int | None = None, reasoning: int | None = None) -> ModelProfile:
    return ModelProfile(
        name="m",
        context_window=window,
        max_output_tokens=output,
        max_reasoning_tokens=reasoning,
    )


def limits(window: int, output: int | None = None, reasoning: int | None = None) -> Limits:
    return LINE.limits(profile(window, output, reasoning), output or 0)


def measured(*, tokenizer: int = 0, calibrated: int | None = None, fixed: int = 0) -> Measured:
    return Measured(
        profile=profile(1_000),
        estimated_tokens=10**9,
        tokenizer_tokens=tokenizer,
        calibrated_tokens=calibrated,
        fixed_tokens=fixed,
        least_fixed_tokens=fixed,
        items=(),
        whole=ShownItems(items=(), chat=lambda item: 0),
        usage=NO_USAGE,
        phase="pre_turn",
    )


@pytest.mark.parametrize(
    ("window", "output", "reasoning", "reserve", "line"),
    [
        (200_000, None, None, 0, 170_000),
        (200_000, 8_192, None, 8_192, 163_037),
        (200_000, 32_000, None, 32_000, 142_800),
        pytest.param(200_000, 100_000, None, 32_000, 142_800, id="a huge output is capped"),
        pytest.param(200_000, 16_000, 80_000, 32_000, 142_800, id="reasoning is in the cap"),
        pytest.param(8_192, 8_000, None, 2_048, 5_223, id="a quarter of a small window at most"),
        pytest.param(1_000_000, 32_000, None, 32_000, 400_000, id="B109"),
        pytest.param(1_048_576, 943_718, None, 32_000, 400_000, id="B115"),
        pytest.param(3, 2, None, 0, 3, id="the smallest windows"),
    ],
)
def test_the_reserve_counts_once_and_is_capped(
    window: int, output: int | None, reasoning: int | None, reserve: int, line: int
) -> None:
    made = limits(window, output, reasoning)

    assert (made.reserved_output_tokens, made.line_tokens) == (reserve, line)
    assert made.compact_at_input_tokens == made.auto_compact_token_limit == line
    assert made.effective_input_tokens == made.hard_limit_tokens == window - reserve
    assert not made.always_reached


@pytest.mark.parametrize("window", [2, 10, 8_192, 200_000, 10_000_000])
@pytest.mark.parametrize("share", [0, 1, 50, 99])
def test_B064_what_no_longer_fits_is_over_the_line(window: int, share: int) -> None:
    made = limits(window, max(1, window * share // 100))
    line, reserve = made.line_tokens, made.reserved_output_tokens
    assert line is not None

    assert line + reserve <= window


def test_an_unknown_window_has_no_line() -> None:
    made = LINE.limits(unknown_profile("m"), 500)
    decision = LINE.decide(measured(tokenizer=10**9), made)

    assert (made.context_window, made.line_tokens, made.reserved_output_tokens) == (None, None, 500)
    assert (decision.action, decision.reason) == ("submit", "unknown_window")


@pytest.mark.parametrize(
    ("tokenizer", "calibrated", "action"),
    [
        (142_799, None, "submit"),
        (142_800, None, "compact"),
        (0, 142_800, "compact"),
        (10**6, 142_799, "submit"),
    ],
)
def test_the_prediction_is_compared_and_before_a_report_the_tokenizer(
    tokenizer: int, calibrated: int | None, action: str
) -> None:
    made = limits(200_000, 32_000)

    decision = LINE.decide(measured(tokenizer=tokenizer, calibrated=calibrated), made)

    assert decision.action == action
    assert decision.input_tokens == (tokenizer if calibrated is None else calibrated)
    assert decision.line_tokens == 142_800


def test_a_prefix_that_reaches_the_line_blocks() -> None:
    made = limits(200_000, 32_000)
    decision = LINE.decide(measured(tokenizer=150_000, fixed=142_800), made)

    assert (decision.action, decision.reason) == ("blocked", "cannot_fit")
    assert decision.detail == (
        "system parts and tools alone take 142800 tokens of the line of 142800"
    )


def test_relief_is_a_share_of_the_line() -> None:
    made = limits(200_000, 32_000)
    relief = replace(LINE, target_percent=50, min_gain_tokens=7).relief(made)

    assert (relief.target_tokens, relief.min_gain_tokens) == (71_400, 7)
    assert LINE.relief(LINE.limits(unknown_profile("m"), 0)).target_tokens is None


def test_every_limit_says_what_was_cut() -> None:
    origins = limits(1_048_576, 943_718).provenance

    assert {name: (o.requested, o.effective) for name, o in origins.items()} == {
        "context_window": (None, 1_048_576),
        "effective_input_tokens": (None, 1_016_576),
        "reserved_output_tokens": (943_718, 32_000),
        "auto_compact_token_limit": (864_090, 400_000),
    }
