import pytest

from app.core.engine import prepare
from app.core.limits import LimitOrigin, Limits
from app.core.model_profile import ModelProfile
from app.policies.reserve import reserve_limits
from tests.requirements import requirement
from tests.unit.core.builders import TEXT_ONLY, part, prepare_input, user

AGENT, PROJECT = part("core/agent-system", "agent"), part("project", "project")


def profile(window: int, output: int | None, reasoning: int | None = None) -> ModelProfile:
    return ModelProfile(
        name="m",
        context_window=window,
        max_output_tokens=output,
        max_reasoning_tokens=reasoning,
    )


def limits(window: int, output: int | None, reasoning: int | None = None) -> Limits:
    return reserve_limits(profile(window, output, reasoning), 85, output or 0)


@requirement("OW-7.2-example", "OW-7.2-effective-input", "OW-7.2-line-85-percent")
@pytest.mark.parametrize(
    ("given", "effective", "line", "trigger"),
    [
        pytest.param(limits(200_000, 32_000), 168_000, 142_800, 110_800, id="L1"),
        pytest.param(limits(200_000, 32_000, 80_000), 88_000, 74_800, 42_800, id="L2"),
        pytest.param(limits(1_000, 400), 600, 510, 110, id="L5"),
        pytest.param(limits(64_000, 32_000), 32_000, 27_200, 0, id="L6"),
        pytest.param(limits(101, 1), 100, 85, 84, id="L7"),
        pytest.param(limits(100, 10), 90, 77, 67, id="L7 76.5 is rounded up"),
        pytest.param(limits(100, 60, 39), 1, 1, 0, id="L9"),
        pytest.param(limits(100_000, None), 100_000, 85_000, 85_000, id="no output"),
        pytest.param(limits(100_000, None, 20_000), 80_000, 68_000, 68_000, id="reasoning alone"),
        pytest.param(
            limits(10**18, 1), 10**18 - 1, 850_000_000_000_000_000, 849_999_999_999_999_999,
            id="integers stay exact",
        ),
    ],
)  # fmt: skip
def test_limits_are_what_the_reserves_leave(
    given: Limits, effective: int, line: int, trigger: int
) -> None:
    assert (
        given.effective_input_tokens,
        given.auto_compact_token_limit,
        given.line_tokens,
        given.compact_at_input_tokens,
    ) == (effective, line, line, trigger)


@requirement("OW-7.2-line-reached")
def test_L3_the_line_is_reached_although_the_input_fits() -> None:
    call = prepare(
        prepare_input(user("x" * 1_600), parts=(AGENT, PROJECT), profile=profile(1_000, 400))
    )

    assert (call.budget.estimate.system_context, call.budget.estimate.conversation) == (17, 407)
    assert call.budget.estimate.total == 424 < 600
    assert (call.decision.measured_tokens, call.decision.line_tokens) == (824, 510)
    assert call.decision.action == "compact"


@requirement("OW-7.2-line-reached")
@pytest.mark.parametrize(
    ("characters", "input_tokens", "action"),
    [
        pytest.param(374, 109, "submit", id="L4 one token below"),
        pytest.param(378, 110, "compact", id="L5 on the line"),
        pytest.param(382, 111, "compact", id="one above"),
    ],
)
def test_L5_equality_reaches_the_line(characters: int, input_tokens: int, action: str) -> None:
    call = prepare(
        prepare_input(user("x" * characters), parts=(AGENT,), profile=profile(1_000, 400))
    )

    assert call.budget.estimate.total == input_tokens
    assert call.decision.action == action
    assert call.budget.state == ("over" if action == "compact" else "ok")


def test_L4_the_default_line_is_reached_from_110_800_tokens_on() -> None:
    below = prepare(prepare_input(user("x" * (110_799 * 4 - 27)), parts=()))
    on = prepare(prepare_input(user("x" * (110_800 * 4 - 27)), parts=()))

    assert (below.budget.estimate.total, below.decision.action) == (110_799, "submit")
    assert (on.budget.estimate.total, on.decision.action) == (110_800, "compact")
    assert (below.budget.remaining_tokens, on.budget.remaining_tokens) == (1, 0)


def test_L6_an_output_of_nearly_half_the_window_always_reaches_the_line() -> None:
    call = prepare(prepare_input(parts=(), profile=profile(64_000, 32_000)))

    assert call.budget.estimate.total == 0
    assert call.decision.action == "compact"


@pytest.mark.parametrize(
    ("given", "always"),
    [
        (limits(64_000, 32_000), True),
        (limits(200_000, 32_000), False),
        (limits(185, 85), True),
        (limits(186, 85), False),
        (limits(100, None), False),
        (reserve_limits(ModelProfile(name="m", context_window=None), 85, 0), False),
    ],
)
def test_L8_a_line_that_every_request_reaches_is_told(given: Limits, always: bool) -> None:
    assert given.always_reached is always


def test_L10_media_that_the_model_refuses_changes_no_limit() -> None:
    assert not TEXT_ONLY.accepts_data_blocks
    assert reserve_limits(TEXT_ONLY, 85, 32_000) == limits(200_000, 32_000)


@pytest.mark.parametrize(("percent", "line"), [(1, 1), (50, 45), (85, 77), (99, 90), (100, 90)])
def test_another_percentage_moves_the_line(percent: int, line: int) -> None:
    assert reserve_limits(profile(100, 10), percent, 10).line_tokens == line


def test_limits_say_where_they_come_from() -> None:
    assert limits(200_000, 32_000, 8_000).provenance == {
        "context_window": LimitOrigin(
            requested=None,
            effective=200_000,
            source="session",
            why="the window of the model profile",
        ),
        "effective_input_tokens": LimitOrigin(
            requested=None,
            effective=160_000,
            source="derived",
            why="window 200000 less output and reasoning 40000",
        ),
        "auto_compact_token_limit": LimitOrigin(
            requested=None,
            effective=136_000,
            source="policy",
            why="85 % of the effective input, rounded up",
        ),
    }


def test_an_unknown_window_has_no_limit() -> None:
    unknown = ModelProfile(name="m", context_window=None, max_output_tokens=500)

    assert reserve_limits(unknown, 85, 500) == Limits(
        context_window=None,
        effective_input_tokens=None,
        auto_compact_token_limit=None,
        line_tokens=None,
        compact_at_input_tokens=None,
        reserved_output_tokens=500,
        provenance={
            "context_window": LimitOrigin(
                requested=None,
                effective=None,
                source="unknown",
                why="the model profile does not say how large the window is",
            )
        },
    )
