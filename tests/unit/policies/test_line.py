import pytest

from app.core.limits import Decision
from app.core.model_profile import ModelProfile
from app.policies.line import decide_by_line
from app.policies.reserve import reserve_limits
from tests.requirements import requirement

KNOWN = reserve_limits(ModelProfile(name="m", context_window=1_000, max_output_tokens=400), 85, 400)
UNKNOWN = reserve_limits(
    ModelProfile(name="m", context_window=None, max_output_tokens=400), 85, 400
)


def test_under_the_line_a_request_is_sent() -> None:
    assert decide_by_line(109, KNOWN) == Decision(
        action="submit",
        reason="under_line",
        input_tokens=109,
        measured_tokens=509,
        line_tokens=510,
        remaining_tokens=1,
        detail="input 109 + output reserve 400 = 509 tokens, under the line of 510",
    )


@requirement("OW-7.2-line-reached")
def test_L5_on_the_line_a_session_compacts_first() -> None:
    assert decide_by_line(110, KNOWN) == Decision(
        action="compact",
        reason="token_limit_reached",
        input_tokens=110,
        measured_tokens=510,
        line_tokens=510,
        remaining_tokens=0,
        detail="input 110 + output reserve 400 = 510 tokens, at or over the line of 510",
    )


@pytest.mark.parametrize("tokens", [0, 10**9])
def test_with_an_unknown_window_every_request_is_sent(tokens: int) -> None:
    assert decide_by_line(tokens, UNKNOWN) == Decision(
        action="submit",
        reason="unknown_window",
        input_tokens=tokens,
        measured_tokens=tokens + 400,
        line_tokens=None,
        remaining_tokens=None,
        detail="the model's window is unknown, so nothing can be compared with it",
    )
