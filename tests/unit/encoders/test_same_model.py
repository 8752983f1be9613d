"""Whom provider state is for: a model under its name, with or without the day of its release."""

import pytest

from app.encoders.same_model import is_same_model


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("gpt-5", "gpt-5-2025-08-07"),
        ("", ""),
    ],
)
def test_a_name_is_the_same_model_as_itself_with_a_day(left: str, right: str) -> None:
    assert is_same_model(left, right)
    assert is_same_model(right, left)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("gpt-5-2025-08-07", "gpt-5-2025-09-07"),
        ("gpt-5", "gpt-5-mini"),
        ("mistral-large-2411", "mistral-large"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20259929"),
        ("Gpt-5", "gpt-5"),
    ],
)
def test_other_names_are_other_models(left: str, right: str) -> None:
    assert not is_same_model(left, right)
    assert not is_same_model(right, left)
