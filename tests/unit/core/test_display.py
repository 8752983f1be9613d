"""Tokens and shares as people read them."""

import pytest

from app.core.display import display_share, display_tokens, display_usage


def test_A9_usage_is_told_with_its_window_and_its_share() -> None:
    assert display_usage(600_000, 1_000_000) == "600k / 1m (60%)"


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        pytest.param(561_000, "561k", id="A9"),
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (1_049, "1k"),
        (1_050, "1.1k"),
        (1_500, "1.5k"),
        (9_949, "9.9k"),
        (9_950, "10k"),
        (10_499, "10k"),
        (10_500, "11k"),
        (999_499, "999k"),
        (999_500, "1m"),
        (1_000_000, "1m"),
        (1_048_576, "1m"),
        (1_250_000, "1.3m"),
        (12_400_000, "12m"),
    ],
)
def test_A7_A9_tokens_have_one_decimal_below_ten_of_their_unit(tokens: int, shown: str) -> None:
    assert display_tokens(tokens) == shown


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        pytest.param(561_000, "56%", id="A9 56"),
        pytest.param(5_000, "0.5%", id="A9 half"),
        (0, "0%"),
        (400, "0%"),
        (500, "0.1%"),
        (50_000, "5%"),
        (99_499, "9.9%"),
        (99_500, "10%"),
        (1_000_000, "100%"),
        (1_204_000, "120%"),
    ],
)
def test_A9_a_share_has_one_decimal_below_ten_percent(part: int, shown: str) -> None:
    assert display_share(part, 1_000_000) == shown
