from typing import Any

import pytest

from app.core.limits import LimitScope
from app.core.model_profile import ModelProfile
from app.core.prefill import NO_PREFILL
from app.policies.codex_window import WindowOverrides, resolve_window
from app.policies.window_status import WindowStatus, WindowUse, percent_left, window_status
from tests.requirements import requirement


def status(
    active: int,
    window: int | None,
    *,
    pct: int = 95,
    scope: LimitScope = "total",
    limit: int | None = None,
    catalog_limit: int | None = None,
    prefill: int | None = None,
    buffer: int | None = None,
) -> WindowStatus:
    """The status of a vector's arguments; `limit` is the policy's line, `prefill` observed."""
    profile = ModelProfile(
        name="m",
        context_window=window,
        auto_compact_token_limit=catalog_limit,
        effective_context_window_percent=pct,
    )
    return window_status(
        WindowUse(
            active_context_tokens=active,
            scope=scope,
            prefill=NO_PREFILL if prefill is None else NO_PREFILL.with_usage(prefill),
            fallback_buffer_tokens=buffer,
        ),
        resolve_window(profile, WindowOverrides(auto_compact_token_limit=limit)),
    )


def body(active: int, window: int | None, **given: Any) -> WindowStatus:
    return status(active, window, scope="body_after_prefix", **given)


FIELDS = {
    "reached": "token_limit_reached",
    "remaining": "base_window_tokens_remaining",
    "hard": "hard_limit_tokens",
    "scope_limit": "scope_limit_tokens",
}
"""The short names of the rows; others are the status's own."""

TOTAL = [
    pytest.param(status(8_999, 10_000), {"reached": False, "remaining": 1, "hard": 9_500},
                 id="one below the line"),
    pytest.param(status(9_000, 10_000), {"reached": True, "remaining": 0,
                                         "hard_limit_reached": False}, id="V049"),
    pytest.param(status(9_499, 10_000), {"reached": True, "hard_limit_reached": False},
                 id="one below the hard limit"),
    pytest.param(status(9_500, 10_000), {"reached": True, "hard_limit_reached": True}, id="V050"),
    pytest.param(status(9_600, 10_000), {"remaining": 0, "hard_limit_reached": True},
                 id="beyond the hard limit nothing negative remains"),
    pytest.param(status(4_999, 10_000, pct=50), {"reached": False, "remaining": 1},
                 id="the hard limit below the line is what remains"),
    pytest.param(status(5_000, 10_000, pct=50), {"reached": True, "hard_limit_reached": True,
                                                 "remaining": 0}, id="V052"),
    pytest.param(status(5_000, 10_000, pct=50, limit=7_000),
                 {"reached": True, "hard_limit_reached": True}, id="V053"),
    pytest.param(status(9_000, 10_000, pct=90), {"reached": True, "hard_limit_reached": True},
                 id="at 90 % both limits are one"),
    pytest.param(status(9_000, 10_000, pct=150), {"reached": True, "hard": 15_000,
                                                  "hard_limit_reached": False}, id="V055"),
    pytest.param(status(8_000, 10_000), {"remaining": 1_000, "reached": False}, id="V076"),
    pytest.param(status(2_500, 10_000), {"remaining": 6_500}, id="V077"),
    pytest.param(status(0, 10_000), {"remaining": 9_000, "scope_tokens": 0}, id="nothing is used"),
    pytest.param(status(6_000, 10_000, limit=7_000, catalog_limit=5_000),
                 {"scope_limit": 7_000, "reached": False},
                 id="the policy's line replaces the model's"),
    pytest.param(status(0, 10_000, limit=0), {"reached": True, "remaining": 0},
                 id="a line of 0 is reached by nothing"),
    pytest.param(status(5, 10_000, prefill=600), {"scope_tokens": 5},
                 id="a baseline is not looked at"),
]  # fmt: skip
UNKNOWN = [
    pytest.param(status(6_999, None, limit=7_000), {"reached": False, "remaining": 1,
                                                    "hard": None}, id="V056"),
    pytest.param(status(7_000, None, limit=7_000), {"reached": True, "hard_limit_reached": False},
                 id="an explicit line alone is reached"),
    pytest.param(status(10**9, None), {"reached": False, "remaining": None, "scope_limit": None,
                                       "percent_left": None}, id="V058"),
    pytest.param(body(10**9, None, prefill=1), {"reached": False, "remaining": None},
                 id="in body scope too"),
]  # fmt: skip
BODY = [
    pytest.param(body(650, 1_000, limit=100, prefill=600),
                 {"scope_tokens": 50, "scope_limit": 100, "reached": False}, id="V059"),
    pytest.param(body(699, 1_000, limit=100, prefill=600),
                 {"scope_tokens": 99, "reached": False, "remaining": 1},
                 id="growth one below the line"),
    pytest.param(body(700, 1_000, limit=100, prefill=600),
                 {"scope_tokens": 100, "reached": True}, id="V061"),
    pytest.param(body(750, 1_000, limit=100, prefill=600),
                 {"scope_tokens": 150, "reached": True}, id="V062"),
    pytest.param(body(30, 1_000, limit=100, prefill=600),
                 {"scope_tokens": -570, "remaining": 670, "reached": False},
                 id="growth may be negative and then more remains than the line"),
    pytest.param(body(94, 100, limit=200, prefill=80),
                 {"scope_limit": 200, "hard": 95, "reached": False, "remaining": 1}, id="V064"),
    pytest.param(body(95, 100, limit=200, prefill=80),
                 {"scope_limit": 200, "hard_limit_reached": True, "reached": True}, id="V065"),
    pytest.param(body(100, 1_000, limit=920, prefill=1_000),
                 {"scope_tokens": -900, "remaining": 850},
                 id="the hard limit bounds what remains"),
    pytest.param(body(920, 1_000, limit=920, prefill=10),
                 {"scope_tokens": 910, "scope_limit": 920, "reached": False, "remaining": 10},
                 id="V067"),
    pytest.param(body(939, 1_000, prefill=40),
                 {"scope_tokens": 899, "scope_limit": 900, "reached": False, "remaining": 1},
                 id="V068"),
    pytest.param(body(940, 1_000, prefill=40), {"scope_tokens": 900, "reached": True},
                 id="the model's own line is reached by growth"),
    pytest.param(body(939, 1_000, catalog_limit=950, prefill=40), {"scope_limit": 900},
                 id="a line of the model is clamped in body scope too"),
    pytest.param(body(700, 1_000, limit=100),
                 {"scope_tokens": 0, "reached": False, "prefill_input_tokens": None,
                  "prefill_source": "none"}, id="V070"),
    pytest.param(body(1_000_099, None, limit=100, prefill=1_000_000),
                 {"scope_tokens": 99, "reached": False, "hard": None}, id="V071"),
    pytest.param(body(1_000_100, None, limit=100, prefill=1_000_000), {"reached": True},
                 id="one more token of growth"),
]  # fmt: skip
BUFFERED = [
    pytest.param(status(9_000, 10_000, buffer=300), {"reached": False, "remaining": 0,
                                                     "scope_limit": 9_000}, id="on the line"),
    pytest.param(status(9_299, 10_000, buffer=300), {"reached": False, "remaining": 0}, id="V073"),
    pytest.param(status(9_300, 10_000, buffer=300), {"reached": True, "remaining": 0}, id="V074"),
    pytest.param(status(9_500, 10_000, buffer=3_000), {"reached": True,
                                                       "hard_limit_reached": True},
                 id="no buffer moves the hard limit"),
    pytest.param(body(999, 10_000, limit=600, prefill=100, buffer=300),
                 {"scope_tokens": 899, "reached": False}, id="a buffer in body scope"),
    pytest.param(body(1_000, 10_000, limit=600, prefill=100, buffer=300), {"reached": True},
                 id="a buffer that is used up"),
    pytest.param(status(10**9, None, buffer=300), {"reached": False},
                 id="a buffer makes no line"),
]  # fmt: skip
PERCENTAGES = [
    pytest.param(0, 12_000, 0, id="V157"),
    pytest.param(12_000, 272_000, 100, id="V158"),
    pytest.param(142_000, 272_000, 50, id="half of the room"),
    pytest.param(0, 272_000, 100, id="less than the baseline"),
    pytest.param(272_000, 272_000, 0, id="V160"),
    pytest.param(300_000, 272_000, 0, id="V161"),
    pytest.param(0, 12_001, 100, id="the smallest window with a room"),
    pytest.param(0, 0, 0, id="no window at all"),
    pytest.param(0, -5, 0, id="a negative window"),
    pytest.param(12_995, 13_000, 1, id="a half is rounded up"),
    pytest.param(12_996, 13_000, 0, id="less than a half is not"),
    pytest.param(12_855, 13_000, 15, id="14.5 is 15"),
]


def check(found: WindowStatus, expected: dict[str, Any]) -> None:
    assert {name: getattr(found, FIELDS.get(name, name)) for name in expected} == expected


@requirement("CX-7-hard-limit-reached", "CX-7-token-limit-reached", "CX-7-remaining-is-the-smaller")
@pytest.mark.parametrize(("found", "expected"), TOTAL)
def test_in_total_scope_everything_is_compared(
    found: WindowStatus, expected: dict[str, Any]
) -> None:
    check(found, expected)


@requirement("CX-10-unknown-window-never-hits-a-hard-limit")
@pytest.mark.parametrize(("found", "expected"), UNKNOWN)
def test_an_unknown_window_has_no_hard_limit(found: WindowStatus, expected: dict[str, Any]) -> None:
    check(found, expected)


@requirement(
    "CX-6-scope-body-after-prefix", "CX-6-body-line-is-not-clamped", "CX-6-baseline-is-absolute"
)
@pytest.mark.parametrize(("found", "expected"), BODY)
def test_in_body_scope_growth_is_compared_with_the_line(
    found: WindowStatus, expected: dict[str, Any]
) -> None:
    check(found, expected)


@pytest.mark.parametrize(("found", "expected"), BUFFERED)
def test_a_buffer_raises_the_line_alone(found: WindowStatus, expected: dict[str, Any]) -> None:
    check(found, expected)


@pytest.mark.parametrize(("total", "window", "expected"), PERCENTAGES)
def test_the_share_that_is_left_begins_behind_the_baseline(
    total: int, window: int, expected: int
) -> None:
    assert percent_left(total, window) == expected


def test_a_status_tells_every_number_of_its_comparison() -> None:
    assert body(20_000, 272_000, limit=50_000, prefill=15_000, buffer=300) == WindowStatus(
        active_context_tokens=20_000,
        scope_tokens=5_000,
        scope_limit_tokens=50_000,
        hard_limit_tokens=258_400,
        base_window_tokens_remaining=45_000,
        hard_limit_reached=False,
        token_limit_reached=False,
        prefill_input_tokens=15_000,
        prefill_source="observed",
        percent_left=97,
    )


@requirement("CX-1-hard-limit-is-not-the-line")
def test_the_line_is_reached_before_the_hard_limit() -> None:
    found = [
        (each.token_limit_reached, each.hard_limit_reached)
        for each in (status(8_999, 10_000), status(9_000, 10_000), status(9_500, 10_000))
    ]

    assert found == [(False, False), (True, False), (True, True)]


@requirement("CX-5-each-layer-uses-the-last")
def test_a_status_takes_the_limits_as_they_were_resolved() -> None:
    profile = ModelProfile(name="m", context_window=273_000, max_context_window=400_000)
    window = resolve_window(profile, WindowOverrides(context_window=500_000))
    use = WindowUse(active_context_tokens=0, scope="total", prefill=NO_PREFILL)
    found = window_status(use, window)

    assert found.hard_limit_tokens == window.hard_limit_tokens == 380_000
    assert found.scope_limit_tokens == window.auto_compact_token_limit == 360_000


@requirement("CX-11-prefix-alone-does-not-compact")
def test_a_prefix_over_the_line_of_the_body_is_no_growth() -> None:
    found = body(5_000, 10_000, limit=100, prefill=5_000)

    assert (found.scope_tokens, found.token_limit_reached) == (0, False)


@requirement("CX-11-body-line-above-the-window")
def test_a_line_of_the_body_above_the_window_leaves_the_hard_limit_in_force() -> None:
    below, on = body(949, 1_000, limit=5_000, prefill=0), body(950, 1_000, limit=5_000, prefill=0)

    assert (below.token_limit_reached, on.token_limit_reached) == (False, True)


@requirement("CX-6-prefix-counted-once", "CX-11-growth-compacts-again")
def test_growth_is_counted_from_the_baseline_of_each_window() -> None:
    first = NO_PREFILL.with_usage(100)
    estimated = NO_PREFILL.with_estimate(5_469)
    second = estimated.with_usage(100_000)
    window = resolve_window(
        ModelProfile(name="m", context_window=None), WindowOverrides(auto_compact_token_limit=40)
    )
    seen = [
        window_status(
            WindowUse(active_context_tokens=active, scope="body_after_prefix", prefill=prefill),
            window,
        )
        for active, prefill in (
            (140, first), (5_469, estimated), (100_010, second), (100_105, second),
        )
    ]  # fmt: skip

    assert [(each.scope_tokens, each.token_limit_reached) for each in seen] == [
        (40, True),
        (0, False),
        (10, False),
        (105, True),
    ]
