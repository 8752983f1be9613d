import pytest

from app.core.finish_reasons import is_output_limit


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"])
def test_every_provider_has_a_word_for_its_output_limit(reason: str) -> None:
    assert is_output_limit(reason)


@pytest.mark.parametrize(
    "reason",
    [None, "", "stop", "end_turn", "STOP", "tool_use", "tool_calls", "content_filter", "Length"],
)
def test_another_reason_is_no_output_limit(reason: str | None) -> None:
    assert not is_output_limit(reason)


@pytest.mark.parametrize("reason", ["model_length", "model_context_window_exceeded"])
def test_a_full_context_is_no_output_limit(reason: str) -> None:
    assert not is_output_limit(reason)
