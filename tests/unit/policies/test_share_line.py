from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.limits import Decision
from app.core.model_profile import ModelProfile, unknown_profile
from app.core.policy import Measured, ShownItems
from app.core.usage import NO_USAGE, LastTotal
from app.policies.presets import PRESETS, policy_from
from app.policies.share_line import ShareLine
from app.policies.window_share import first_over
from tests.unit.core.builders import stored, user

GOOSE = PRESETS["goose"]
ITEMS = stored(user("a"), user("b"))


def profile(window: int) -> ModelProfile:
    return ModelProfile(name="m", context_window=window)


def measured(total: int | None, window: int = 1_000, *, fixed: int = 0) -> Measured:
    last = None if total is None else LastTotal(tokens=total, source="observed")
    return Measured(
        profile=profile(window),
        estimated_tokens=7,
        tokenizer_tokens=0,
        calibrated_tokens=None,
        fixed_tokens=fixed,
        least_fixed_tokens=fixed,
        items=(),
        whole=ShownItems(items=ITEMS, chat=lambda item: 400),
        usage=replace(NO_USAGE, last_total=last),
        phase="pre_turn",
    )


def decided(total: int | None, window: int = 1_000, *, fixed: int = 0) -> Decision:
    given = measured(total, window, fixed=fixed)
    return GOOSE.decide(given, GOOSE.limits(given.profile, 0))


def test_limits_are_the_window_and_a_share_that_may_be_reached() -> None:
    limits = GOOSE.limits(profile(128_000), 4_096)

    assert limits.context_window == limits.effective_input_tokens == 128_000
    assert limits.auto_compact_token_limit == limits.line_tokens == 102_400
    assert limits.compact_at_input_tokens == 102_401
    assert limits.hard_limit_tokens is None
    assert limits.provenance["auto_compact_token_limit"].why.startswith("0.8 of the window")


@pytest.mark.parametrize(
    ("total", "action", "remaining", "is_over"),
    [(799, "submit", 2, False), (800, "submit", 1, False), (801, "compact", 0, True)],
)
def test_the_last_total_compacts_above_the_line_only(
    total: int, action: str, remaining: int, is_over: bool
) -> None:
    decision = decided(total)

    assert (decision.action, decision.remaining_tokens) == (action, remaining)
    assert (decision.measured_tokens, decision.line_tokens) == (total, 800)
    assert decision.is_over is is_over


def test_without_a_report_the_messages_count_each_alone() -> None:
    assert decided(None).measured_tokens == 800
    assert decided(None, window=999).action == "compact"
    assert decided(0, window=1).action == "submit"


@pytest.mark.parametrize("threshold", [0, 1, -0.5, 1.5])
def test_a_threshold_that_is_switched_off_has_no_line(threshold: float) -> None:
    policy = policy_from({"preset": "goose", "threshold": threshold})
    given = measured(999_999)
    limits = policy.limits(given.profile, 0)
    decision = policy.decide(given, limits)

    assert (limits.line_tokens, limits.compact_at_input_tokens) == (None, None)
    assert limits.context_window == 1_000
    assert (decision.action, decision.reason) == ("submit", "disabled")
    assert not decision.is_over


def test_an_unknown_window_is_never_over() -> None:
    given = replace(measured(999_999), profile=unknown_profile("m"))
    decision = GOOSE.decide(given, GOOSE.limits(given.profile, 0))

    assert (decision.action, decision.reason) == ("submit", "unknown_window")


def test_a_prefix_blocks_only_where_it_fills_the_window() -> None:
    assert decided(900, fixed=999).action == "compact"
    blocked = decided(900, fixed=1_000)
    assert (blocked.action, blocked.reason) == ("blocked", "cannot_fit")


def test_a_percentage_sets_the_threshold() -> None:
    policy = policy_from({"preset": "goose", "auto_compact_percent": 50})

    assert policy.line == ShareLine(threshold=0.5)
    assert policy.line.line_percent == 50


def test_a_window_starts_with_the_messages_alone() -> None:
    whole = measured(None).whole

    assert ShareLine().starting_total(5_000, whole) == 800


@pytest.mark.parametrize("window", [1, 2, 3, 7, 10, 99, 1_000, 91_667, 128_000, 1_048_576])
@pytest.mark.parametrize("threshold", [0.01, 0.1, 0.29, 0.3, 0.55, 0.57, 0.8, 0.9, 0.99])
def test_the_first_number_over_a_share_is_over_it_and_the_one_before_is_not(
    window: int, threshold: float
) -> None:
    first = first_over(window, threshold)

    assert first / window > threshold
    assert (first - 1) / window <= threshold


@given(
    threshold=st.floats(min_value=0.001, max_value=0.999),
    window=st.integers(min_value=1, max_value=2_000_000),
    beside=st.integers(min_value=-1, max_value=1),
)
def test_numbers_status_and_decision_agree_about_what_is_over(
    threshold: float, window: int, beside: int
) -> None:
    line = ShareLine(threshold=threshold)
    limits = line.limits(profile(window), 0)
    assert limits.line_tokens is not None
    tokens = max(0, limits.line_tokens + beside)
    at = measured(tokens, window)
    is_over = tokens > limits.line_tokens

    assert limits.compact_at_input_tokens == limits.line_tokens + 1
    assert (line.decide(at, limits).action == "compact") is is_over
    assert line.status(at, limits).token_limit_reached is is_over


def test_a_share_whose_product_rounds_down_is_told_as_it_is_compared() -> None:
    line = ShareLine(threshold=0.29)
    limits = line.limits(profile(100), 0)

    assert limits.line_tokens == 29
    assert [line.decide(measured(tokens, 100), limits).action for tokens in (29, 30)] == [
        *("submit", "compact"),
    ]
