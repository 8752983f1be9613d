import pytest

from app.core.errors import InvalidModelProfile
from app.core.model_profile import ModelProfile, unknown_profile


def profile(
    window: int | None, output: int | None = None, reasoning: int | None = None
) -> ModelProfile:
    return ModelProfile(
        name="m",
        context_window=window,
        max_output_tokens=output,
        max_reasoning_tokens=reasoning,
    )


@pytest.mark.parametrize(
    ("window", "output", "reasoning", "sentence", "details"),
    [
        pytest.param(
            0,
            1,
            None,
            "contextWindowTokens must be positive",
            {"key": "context_window"},
            id="L9 window",
        ),
        pytest.param(
            -1,
            1,
            None,
            "contextWindowTokens must be positive",
            {"key": "context_window"},
            id="negative",
        ),
        pytest.param(
            100,
            0,
            None,
            "maxOutputTokens must be positive",
            {"key": "max_output_tokens"},
            id="L9 output",
        ),
        pytest.param(
            None,
            0,
            None,
            "maxOutputTokens must be positive",
            {"key": "max_output_tokens"},
            id="unknown",
        ),
        pytest.param(
            100,
            60,
            40,
            "output and reasoning reserve 100 tokens, which must be less than the 100-token "
            "context window",
            {"key": "max_output_tokens", "tokens": 100, "limit_tokens": 100},
            id="L9 reserve",
        ),
        pytest.param(
            100,
            101,
            None,
            "output and reasoning reserve 101 tokens, which must be less than the 100-token "
            "context window",
            {"key": "max_output_tokens", "tokens": 101, "limit_tokens": 100},
            id="output alone",
        ),
        pytest.param(
            100,
            2**64 - 1,
            1,
            "the output and reasoning reservation overflowed",
            {"key": "max_output_tokens"},
            id="overflow",
        ),
        pytest.param(
            None,
            2**64 - 1,
            1,
            "the output and reasoning reservation overflowed",
            {"key": "max_output_tokens"},
            id="overflow of an unknown window",
        ),
        pytest.param(
            100,
            10,
            -1,
            "maxReasoningTokens must not be negative",
            {"key": "max_reasoning_tokens"},
            id="negative reasoning",
        ),
    ],
)
def test_L9_a_profile_that_leaves_no_room_is_refused(
    window: int | None,
    output: int | None,
    reasoning: int | None,
    sentence: str,
    details: dict[str, object],
) -> None:
    with pytest.raises(InvalidModelProfile) as refused:
        profile(window, output, reasoning)

    assert refused.value.detail == sentence
    assert refused.value.details == details


@pytest.mark.parametrize(
    ("given", "reserve"),
    [
        (profile(100, 60, 39), 99),
        (profile(100), 0),
        (profile(100, None, 99), 99),
        (profile(None, 2**64 - 1), 2**64 - 1),
        (profile(1), 0),
        (profile(100, 10, 0), 10),
    ],
    ids=["L9", "no output", "reasoning alone", "unknown window", "smallest window", "no reasoning"],
)
def test_L9_a_profile_that_leaves_room_passes(given: ModelProfile, reserve: int) -> None:
    assert given.reserve_tokens == reserve


def test_L10_a_profile_carries_whether_the_model_takes_data_blocks() -> None:
    assert ModelProfile(name="m", context_window=1, accepts_data_blocks=False) != profile(1)
    assert profile(1).accepts_data_blocks


def test_of_an_unknown_model_nothing_is_made_up() -> None:
    assert unknown_profile("m") == ModelProfile(
        name="m", context_window=None, max_output_tokens=None, max_reasoning_tokens=None
    )
