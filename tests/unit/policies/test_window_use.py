from dataclasses import replace

import pytest

from app.core.items import Item
from app.core.model_profile import ModelProfile
from app.core.policy import Measured, ShownItems
from app.core.prefill import NO_PREFILL
from app.core.usage import NO_USAGE, LastTotal, UsageState
from app.policies.reserve import ReserveLine, reserve_limits
from app.policies.window_status import WindowStatus
from app.policies.window_use import status_of
from tests.unit.core.builders import assistant, user

PROFILE = ModelProfile(name="m", context_window=100_000)
LIMITS = reserve_limits(PROFILE, 85, 0)
REPORTED = replace(NO_USAGE, last_total=LastTotal(tokens=40_000, source="observed"))


def measured(*items: Item, usage: UsageState = REPORTED) -> Measured:
    return Measured(
        profile=PROFILE,
        estimated_tokens=77,
        tokenizer_tokens=0,
        calibrated_tokens=None,
        fixed_tokens=0,
        least_fixed_tokens=0,
        items=items,
        whole=ShownItems(items=items, chat=lambda item: 0),
        usage=usage,
        phase="mid_turn",
    )


def active(given: Measured) -> int:
    return status_of(given, LIMITS).active_context_tokens


def test_the_last_total_counts_with_what_came_behind_the_answer() -> None:
    later = user("x" * 400)
    size = -(-later.facts.json_bytes // 4)

    assert active(measured(user("a"), assistant("b"))) == 40_000
    assert active(measured(user("a"), assistant("b"), later)) == 40_000 + size


def test_before_a_report_the_estimate_counts() -> None:
    assert active(measured(user("a"), usage=NO_USAGE)) == 77


def test_the_status_compares_with_the_line_and_shows_what_is_left_of_the_window() -> None:
    usage = replace(REPORTED, prefill=NO_PREFILL.with_usage(30_000))
    expected = WindowStatus(
        active_context_tokens=40_000,
        scope_tokens=40_000,
        scope_limit_tokens=85_000,
        hard_limit_tokens=None,
        base_window_tokens_remaining=45_000,
        hard_limit_reached=False,
        token_limit_reached=False,
        prefill_input_tokens=30_000,
        prefill_source="observed",
        percent_left=68,
    )

    assert status_of(measured(usage=usage), LIMITS) == expected
    assert ReserveLine().status(measured(usage=usage), LIMITS) == expected


@pytest.mark.parametrize(("tokens", "reached"), [(84_999, False), (85_000, True)])
def test_equality_reaches_the_line(tokens: int, reached: bool) -> None:
    usage = replace(NO_USAGE, last_total=LastTotal(tokens=tokens, source="observed"))

    assert status_of(measured(usage=usage), LIMITS).token_limit_reached is reached


def test_a_hard_limit_counts_where_there_is_one() -> None:
    limits = replace(LIMITS, hard_limit_tokens=40_000)
    status = status_of(measured(), limits)

    assert status.hard_limit_reached
    assert status.token_limit_reached
    assert status.base_window_tokens_remaining == 0


def test_of_an_unknown_window_nothing_is_left_and_nothing_reached() -> None:
    unknown = reserve_limits(replace(PROFILE, context_window=None), 85, 0)
    status = status_of(measured(), unknown)

    assert status.percent_left is status.base_window_tokens_remaining is None
    assert not status.token_limit_reached
