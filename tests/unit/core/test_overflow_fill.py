import pytest

from app.core.overflow_fill import FilledTokens, fill_full

REMAINDERS = [
    pytest.param(0, 9_500, [9_500, 9_500], id="the first request of a session"),
    pytest.param(400, 9_500, [9_100, 9_500], id="V154"),
    pytest.param(1_000, 9_500, [8_500, 9_500], id="V155"),
    pytest.param(12_000, 9_500, [0, 9_500], id="more was used than the window holds"),
]


@pytest.mark.parametrize(("cumulative", "hard", "expected"), REMAINDERS)
def test_the_original_fills_a_window_with_what_the_session_leaves_of_it(
    cumulative: int, hard: int, expected: list[int]
) -> None:
    filled = fill_full(cumulative, hard, "remainder")

    assert filled is not None
    assert [filled.last_total_tokens, filled.cumulative_tokens] == expected


@pytest.mark.parametrize("cumulative", [0, 400, 1_000, 12_000])
def test_an_overflow_fills_the_window_whatever_was_used_before(cumulative: int) -> None:
    assert fill_full(cumulative, 9_500) == FilledTokens(
        last_total_tokens=9_500, cumulative_tokens=cumulative
    )


def test_an_unknown_window_is_not_filled() -> None:
    assert fill_full(400, None) is None
    assert fill_full(400, None, "remainder") is None
