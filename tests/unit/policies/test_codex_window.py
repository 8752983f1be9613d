import pytest

from app.core.limits import LimitOrigin
from app.core.model_profile import ModelProfile
from app.policies.codex_window import (
    LARGEST,
    InvalidWindow,
    ModelWindow,
    WindowOverrides,
    apply_override,
    auto_limit,
    effective_window,
    refuse_impossible_window,
    resolve_window,
    resolved_window,
)
from tests.requirements import requirement

NO_OVERRIDES = WindowOverrides()

OVERRIDES = [
    pytest.param(273_000, 400_000, 500_000, 400_000, id="V001"),
    pytest.param(273_000, 400_000, None, 273_000, id="V002"),
    pytest.param(273_000, 400_000, 100_000, 100_000, id="an override may lower the window"),
    pytest.param(273_000, 400_000, 400_000, 400_000, id="the maximum itself is not cut"),
    pytest.param(273_000, None, 10_000_000, 10_000_000, id="V004"),
    pytest.param(272_000, 272_000, 0, 0, id="V005"),
    pytest.param(272_000, 272_000, -1, -1, id="a negative override is taken"),
    pytest.param(500_000, 400_000, None, 500_000, id="nothing is cut without an override"),
    pytest.param(None, 400_000, 300_000, 300_000, id="no window is declared"),
    pytest.param(None, 400_000, None, None, id="nothing is declared and nothing overrides it"),
]
RESOLVED = [
    pytest.param(273_000, 400_000, 273_000, id="V007"),
    pytest.param(None, 400_000, 400_000, id="V008"),
    pytest.param(None, None, None, id="nothing is known"),
    pytest.param(500_000, 400_000, 500_000, id="V010"),
    pytest.param(0, 400_000, 0, id="a window of 0 is a window"),
]
EFFECTIVE = [
    pytest.param(272_000, 95, 258_400, id="V011"),
    pytest.param(128_000, 95, 121_600, id="a smaller model"),
    pytest.param(400_000, 95, 380_000, id="V013"),
    pytest.param(100, 50, 50, id="V014"),
    pytest.param(200, 25, 50, id="a quarter of 200"),
    pytest.param(1, 95, 0, id="V016"),
    pytest.param(19, 95, 18, id="V017"),
    pytest.param(20, 95, 19, id="an exact share"),
    pytest.param(21, 95, 19, id="V019"),
    pytest.param(99, 95, 94, id="V020"),
    pytest.param(101, 95, 95, id="95.95 is 95"),
    pytest.param(111, 95, 105, id="V022"),
    pytest.param(12_345, 90, 11_110, id="V023"),
    pytest.param(500_000, 95, 475_000, id="a declared window above its maximum"),
    pytest.param(1_000, 0, 0, id="V025"),
    pytest.param(1_000, 150, 1_500, id="V026"),
    pytest.param(0, 95, 0, id="a window of 0"),
    pytest.param(-100, 95, -95, id="V028"),
    pytest.param(None, 95, None, id="V029"),
    pytest.param(-1, 95, 0, id="a negative share is truncated toward zero too"),
    pytest.param(LARGEST, 95, LARGEST // 100, id="a product beyond 64 bits saturates"),
    pytest.param(-LARGEST - 1, 95, -(2**63 // 100), id="below 64 bits too"),
]
LINES = [
    pytest.param(100_000, None, 90_000, id="V031"),
    pytest.param(100_000, 70_000, 70_000, id="V032"),
    pytest.param(100_000, 120_000, 90_000, id="an explicit line above nine tenths"),
    pytest.param(None, 70_000, 70_000, id="V034"),
    pytest.param(None, None, None, id="V035"),
    pytest.param(10_000, None, 9_000, id="a round window"),
    pytest.param(10_001, None, 9_000, id="V037"),
    pytest.param(10_009, None, 9_008, id="V038"),
    pytest.param(1, None, 0, id="the smallest window"),
    pytest.param(19, None, 17, id="V040"),
    pytest.param(1_009, None, 908, id="V041"),
    pytest.param(-19, None, -17, id="a negative line is truncated toward zero"),
    pytest.param(10_000, 0, 0, id="V043"),
    pytest.param(10_000, -1, -1, id="V044"),
    pytest.param(0, None, 0, id="a window of 0 has the line 0"),
    pytest.param(0, 5, 0, id="no explicit line lies above it"),
]
WRAPPED = [
    pytest.param(2 * 10**18, -44_674_407_370_955_161, id="V046"),
    pytest.param(LARGEST, 922_337_203_685_477_579, id="V047"),
    pytest.param(LARGEST // 9, 922_337_203_685_477_580, id="the last window that does not wrap"),
    pytest.param(100_000, 90_000, id="an ordinary window"),
]


def profile(
    window: int | None, maximum: int | None = None, *, line: int | None = None, percent: int = 95
) -> ModelProfile:
    return ModelProfile(
        name="m",
        context_window=window,
        max_context_window=maximum,
        auto_compact_token_limit=line,
        effective_context_window_percent=percent,
    )


def four_numbers(window: ModelWindow) -> tuple[int | None, int | None, int | None, int | None]:
    return (
        window.context_window,
        window.hard_limit_tokens,
        window.auto_compact_token_limit,
        window.body_token_limit,
    )


@requirement("CX-3-window-override-is-clamped", "CX-3-window-override-without-max")
@pytest.mark.parametrize(("window", "maximum", "override", "expected"), OVERRIDES)
def test_an_override_replaces_the_window_up_to_the_maximum(
    window: int | None, maximum: int | None, override: int | None, expected: int | None
) -> None:
    assert apply_override(window, maximum, override) == expected


@requirement("CX-4-declared-window-first", "CX-4-max-window-as-fallback")
@pytest.mark.parametrize(("window", "maximum", "expected"), RESOLVED)
def test_the_declared_window_comes_before_the_maximum(
    window: int | None, maximum: int | None, expected: int | None
) -> None:
    assert resolved_window(window, maximum) == expected


@requirement("CX-5-effective-percent")
@pytest.mark.parametrize(("window", "percent", "expected"), EFFECTIVE)
def test_the_hard_limit_is_a_share_of_the_window(
    window: int | None, percent: int, expected: int | None
) -> None:
    assert effective_window(window, percent) == expected


@requirement(
    "CX-2-line-derived-and-clamped",
    "CX-4-line-derived",
    "CX-4-explicit-line-below",
    "CX-4-explicit-line-above",
    "CX-4-unknown-window-explicit-line",
    "CX-4-unknown-window-no-line",
)
@pytest.mark.parametrize(("window", "explicit", "expected"), LINES)
def test_the_line_is_at_most_nine_tenths_of_the_window(
    window: int | None, explicit: int | None, expected: int | None
) -> None:
    assert auto_limit(window, explicit) == expected
    assert auto_limit(window, explicit, "wrapping") == expected


@pytest.mark.parametrize(("window", "expected"), WRAPPED)
def test_the_arithmetic_of_codex_wraps_at_64_bits(window: int, expected: int) -> None:
    assert auto_limit(window, None, "wrapping") == expected


@pytest.mark.parametrize("window", [2 * 10**18, LARGEST])
def test_the_arithmetic_here_saturates_so_that_a_huge_window_is_not_full_at_once(
    window: int,
) -> None:
    assert auto_limit(window, None) == auto_limit(window, LARGEST) == LARGEST // 10


@requirement("CX-1-four-numbers", "CX-5-overrides-apply-once", "CX-3-example")
def test_an_override_is_cut_once_and_the_hard_limit_follows_from_what_is_left() -> None:
    window = resolve_window(profile(273_000, 400_000), WindowOverrides(context_window=500_000))

    assert window == ModelWindow(
        name="m",
        comp_hash=None,
        context_window=400_000,
        hard_limit_tokens=380_000,
        auto_compact_token_limit=360_000,
        body_token_limit=360_000,
        provenance={
            "context_window": LimitOrigin(
                requested=500_000,
                effective=400_000,
                source="policy",
                why="model_context_window of the policy, cut to the max_context_window 400000"
                " of the model profile",
            ),
            "effective_input_tokens": LimitOrigin(
                requested=None,
                effective=380_000,
                source="derived",
                why="95 % of the window, rounded toward zero",
            ),
            "auto_compact_token_limit": LimitOrigin(
                requested=None,
                effective=360_000,
                source="derived",
                why="90 % of the window",
            ),
        },
    )


@requirement("CX-2-max-window-bounds-overrides")
def test_a_maximum_beside_a_declared_window_is_not_in_use() -> None:
    assert four_numbers(resolve_window(profile(273_000, 400_000), NO_OVERRIDES)) == (
        273_000,
        259_350,
        245_700,
        245_700,
    )


@requirement("CX-2-percent-defaults-to-95")
def test_a_profile_without_a_percentage_has_95() -> None:
    unsaid = ModelProfile(name="m", context_window=1_000)

    assert resolve_window(unsaid, NO_OVERRIDES).hard_limit_tokens == 950


@requirement("CX-11-percent-leaves-the-metadata")
@pytest.mark.parametrize(("window", "percent"), [(100, 50), (200, 25)])
def test_the_percentage_leaves_the_window_and_the_line_as_they_are(
    window: int, percent: int
) -> None:
    resolved = resolve_window(profile(window, percent=percent), NO_OVERRIDES)

    assert four_numbers(resolved) == (window, 50, window * 9 // 10, window * 9 // 10)


@requirement("CX-10-switch-reports-both")
def test_two_models_have_a_hard_limit_each() -> None:
    limits = [
        resolve_window(profile(window), NO_OVERRIDES).hard_limit_tokens
        for window in (272_000, 128_000)
    ]

    assert limits == [258_400, 121_600]


@requirement("CX-3-line-override-replaces", "CX-6-body-line-is-not-clamped")
@pytest.mark.parametrize(
    ("declared", "override", "line", "body_line"),
    [
        pytest.param(700, 800, 800, 800, id="above the declared one"),
        pytest.param(700, 600, 600, 600, id="below the declared one"),
        pytest.param(700, 920, 900, 920, id="above nine tenths"),
        pytest.param(700, None, 700, 700, id="no override"),
        pytest.param(950, None, 900, 900, id="a declared one above nine tenths"),
        pytest.param(None, None, 900, 900, id="no line at all"),
    ],
)
def test_the_line_of_the_policy_replaces_that_of_the_model(
    declared: int | None, override: int | None, line: int, body_line: int
) -> None:
    window = resolve_window(
        profile(1_000, line=declared), WindowOverrides(auto_compact_token_limit=override)
    )

    assert four_numbers(window) == (1_000, 950, line, body_line)


@requirement("CX-4-a-line-is-no-window")
def test_a_line_without_a_window_gives_no_window_and_no_hard_limit() -> None:
    window = resolve_window(profile(None, line=70_000), NO_OVERRIDES)

    assert four_numbers(window) == (None, None, 70_000, 70_000)
    assert window.provenance["context_window"] == LimitOrigin(
        requested=None,
        effective=None,
        source="unknown",
        why="neither the profile nor the policy says how large the window is",
    )
    assert window.provenance["effective_input_tokens"] == LimitOrigin(
        requested=None, effective=None, source="unknown", why="the window is unknown"
    )


ORIGINS = [
    pytest.param(
        profile(1_000), NO_OVERRIDES, "context_window",
        (None, 1_000, "session", "context_window of the model profile"),
        id="a declared window",
    ),
    pytest.param(
        profile(None, 2_000), NO_OVERRIDES, "context_window",
        (None, 2_000, "session", "max_context_window of the model profile"),
        id="a maximum in its place",
    ),
    pytest.param(
        profile(1_000, 2_000), WindowOverrides(context_window=500), "context_window",
        (500, 500, "policy", "model_context_window of the policy"),
        id="an override that is not cut",
    ),
    pytest.param(
        profile(None), NO_OVERRIDES, "auto_compact_token_limit",
        (None, None, "unknown", "the window is unknown, and nothing sets a line"),
        id="no line",
    ),
    pytest.param(
        profile(1_000, line=950), NO_OVERRIDES, "auto_compact_token_limit",
        (950, 900, "session",
         "auto_compact_token_limit of the model profile, cut to 90 % of the window"),
        id="a declared line that is cut",
    ),
    pytest.param(
        profile(1_000, line=950), WindowOverrides(auto_compact_token_limit=800),
        "auto_compact_token_limit",
        (800, 800, "policy", "model_auto_compact_token_limit of the policy"),
        id="a line of the policy",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given", "overrides", "name", "origin"), ORIGINS)
def test_every_limit_says_where_it_comes_from(
    given: ModelProfile,
    overrides: WindowOverrides,
    name: str,
    origin: tuple[int | None, int | None, str, str],
) -> None:
    told = resolve_window(given, overrides).provenance[name]

    assert (told.requested, told.effective, told.source, told.why) == origin


def test_a_huge_window_wraps_only_where_the_original_arithmetic_is_asked_for() -> None:
    parity = WindowOverrides(arithmetic="wrapping")
    huge = profile(2 * 10**18)

    assert resolve_window(huge, parity).auto_compact_token_limit == -44_674_407_370_955_161
    assert resolve_window(huge, NO_OVERRIDES).auto_compact_token_limit == LARGEST // 10


REFUSED = [
    pytest.param(profile(1), WindowOverrides(context_window=0), "model_context_window", 0,
                 id="an override of 0"),
    pytest.param(profile(1), WindowOverrides(context_window=-1), "model_context_window", -1,
                 id="a negative override"),
    pytest.param(profile(1), WindowOverrides(context_window=2**63), "model_context_window", 2**63,
                 id="an override beyond 64 bits"),
    pytest.param(profile(1), WindowOverrides(auto_compact_token_limit=0),
                 "model_auto_compact_token_limit", 0, id="a line of 0 in the policy"),
    pytest.param(profile(2**63), NO_OVERRIDES, "context_window", 2**63,
                 id="a window beyond 64 bits"),
    pytest.param(profile(1, 0), NO_OVERRIDES, "max_context_window", 0, id="a maximum of 0"),
    pytest.param(profile(1, line=-5), NO_OVERRIDES, "auto_compact_token_limit", -5,
                 id="a negative line in the profile"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "overrides", "key", "tokens"), REFUSED)
def test_what_every_request_would_reach_is_refused(
    given: ModelProfile, overrides: WindowOverrides, key: str, tokens: int
) -> None:
    with pytest.raises(InvalidWindow) as refused:
        refuse_impossible_window(given, overrides)

    assert refused.value.detail == f"{key} must be from 1 to {LARGEST}, not {tokens}"
    assert refused.value.details == {"key": key}


@pytest.mark.parametrize("percent", [-1, 151])
def test_a_percentage_out_of_its_bounds_is_refused(percent: int) -> None:
    with pytest.raises(InvalidWindow) as refused:
        refuse_impossible_window(profile(1_000, percent=percent), NO_OVERRIDES)

    key = "effective_context_window_percent"
    assert refused.value.detail == f"{key} must be from 0 to 150, not {percent}"
    assert refused.value.details == {"key": key}


@pytest.mark.parametrize(
    "given",
    [
        profile(1),
        profile(None),
        profile(LARGEST, LARGEST, line=LARGEST),
        profile(1_000, percent=0),
        profile(1_000, percent=150),
    ],
)
def test_what_is_within_its_bounds_or_unknown_is_not_refused(given: ModelProfile) -> None:
    refuse_impossible_window(given, NO_OVERRIDES)
