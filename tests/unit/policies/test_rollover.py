from itertools import product

import pytest

from app.policies.rollover import AfterSample, Notices, NoticeSettings, due_notices
from tests.requirements import requirement

NOTHING = Notices()
BOTH = NoticeSettings(reminder_threshold_tokens=2_000, fallback_buffer_tokens=300)


def sample(
    *,
    follow_up: int = 1,
    pending: int = 0,
    requested: int = 0,
    reached: int = 0,
) -> AfterSample:
    return AfterSample(
        model_needs_follow_up=bool(follow_up),
        has_pending_input=bool(pending),
        new_context_requested=bool(requested),
        token_limit_reached=bool(reached),
    )


ROLL_OVERS = [
    pytest.param(sample(follow_up=1, requested=0, reached=1), True, id="V079"),
    pytest.param(sample(follow_up=0, requested=0, reached=1), False, id="V080"),
    pytest.param(sample(follow_up=1, requested=1, reached=0), True, id="a requested context"),
    pytest.param(sample(follow_up=0, requested=1, reached=0), False, id="V082"),
    pytest.param(sample(follow_up=1, requested=0, reached=0), False, id="V083"),
    pytest.param(sample(follow_up=0, requested=1, reached=1), False, id="an ended turn waits"),
    pytest.param(sample(follow_up=0, pending=1, reached=1), True, id="pending input"),
    pytest.param(sample(follow_up=0, pending=1), False, id="pending input under the limit"),
]


@requirement("CX-8-roll-over-needs-a-follow-up")
@pytest.mark.parametrize(("given", "rolls_over"), ROLL_OVERS)
def test_a_window_rolls_over_when_another_sample_would_be_too_much(
    given: AfterSample, rolls_over: bool
) -> None:
    assert given.rolls_over == rolls_over


def test_a_request_for_a_new_context_is_used_up_by_a_follow_up_alone() -> None:
    taken = [
        sample(follow_up=follow_up, requested=requested).takes_request
        for follow_up, requested in product((0, 1), repeat=2)
    ]

    assert taken == [False, False, False, True]


@requirement("CX-8-fallback-only-without-roll-over")
def test_a_fallback_needs_a_window_that_goes_on_under_its_limit() -> None:
    allowed = [
        given
        for given in (
            sample(follow_up=follow_up, requested=requested, reached=reached)
            for follow_up, requested, reached in product((0, 1), repeat=3)
        )
        if given.allows_fallback
    ]

    assert allowed == [
        sample(follow_up=0, requested=0),
        sample(follow_up=0, requested=1),
        sample(follow_up=1, requested=0),
    ]


@pytest.mark.parametrize(
    ("remaining", "due"),
    [
        pytest.param(2_001, False, id="6 999 of 9 000"),
        pytest.param(2_000, True, id="7 000 of 9 000"),
        pytest.param(0, True, id="nothing remains"),
        pytest.param(None, False, id="nobody knows what remains"),
    ],
)
def test_a_reminder_is_due_from_its_threshold_down(remaining: int | None, due: bool) -> None:
    settings = NoticeSettings(reminder_threshold_tokens=2_000)

    assert due_notices(sample(), remaining, settings, NOTHING) == Notices(reminder=due)


def test_a_reminder_comes_before_a_roll_over_too() -> None:
    assert due_notices(sample(reached=1), 0, BOTH, NOTHING) == Notices(reminder=True)


def test_a_fallback_is_due_when_nothing_remains_and_the_limit_is_not_reached() -> None:
    settings = NoticeSettings(fallback_buffer_tokens=300)
    due = [
        due_notices(given, remaining, settings, NOTHING).fallback
        for given, remaining in (
            (sample(), 1),
            (sample(), 0),
            (sample(follow_up=0), 0),
            (sample(reached=1), 0),
            (sample(follow_up=0, reached=1), 0),
            (sample(requested=1), 0),
            (sample(), None),
        )
    ]

    assert due == [False, True, True, False, False, False, False]


def test_each_notice_is_given_once_in_a_window() -> None:
    assert due_notices(sample(), 0, BOTH, NOTHING) == Notices(reminder=True, fallback=True)
    assert due_notices(sample(), 0, BOTH, Notices(reminder=True)) == Notices(fallback=True)
    assert due_notices(sample(), 0, BOTH, Notices(fallback=True)) == Notices(reminder=True)
    assert due_notices(sample(), 0, BOTH, Notices(reminder=True, fallback=True)) == NOTHING


def test_a_notice_that_is_not_turned_on_is_never_due() -> None:
    assert due_notices(sample(), 0, NoticeSettings(), NOTHING) == NOTHING
