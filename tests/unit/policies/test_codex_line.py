from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.core.items import Item
from app.core.limits import Phase
from app.core.model_profile import ModelProfile, unknown_profile
from app.core.policy import Measured, ShownItems
from app.core.prefill import NO_PREFILL
from app.core.usage import NO_USAGE, LastTotal, UsageState
from app.policies.active_context import active_tokens
from app.policies.codex_line import CodexLine
from app.policies.codex_window import InvalidWindow
from tests.requirements import requirement
from tests.unit.core.builders import assistant, call, image, result, stored, tool, user

LINE = CodexLine()
BODY = CodexLine(
    model_auto_compact_token_limit=40, model_auto_compact_token_limit_scope="body_after_prefix"
)
SMALL = ModelProfile(name="m", context_window=10_000)
BIG = ModelProfile(name="big", context_window=272_000)
ASKED = stored(user("go"), assistant("", call("c1")), tool(result("c1", "x" * 100)), user("more"))


def used(tokens: int, **more: object) -> UsageState:
    total = LastTotal(tokens=tokens, source="observed")
    return replace(NO_USAGE, last_total=total, **more)  # type: ignore[arg-type]


def measured(
    usage: UsageState,
    profile: ModelProfile = SMALL,
    *,
    items: Sequence[Item] = (),
    phase: Phase = "pre_turn",
    fixed: int = 0,
) -> Measured:
    return Measured(
        profile=profile,
        estimated_tokens=7,
        tokenizer_tokens=0,
        calibrated_tokens=None,
        fixed_tokens=fixed,
        least_fixed_tokens=fixed,
        items=tuple(items),
        whole=ShownItems(items=tuple(items), chat=lambda item: 0),
        usage=usage,
        phase=phase,
    )


def decided(rule: CodexLine, given: Measured) -> tuple[str, str, int, int | None]:
    made = rule.decide(given, rule.limits(given.profile, 0))
    return made.action, made.reason, made.measured_tokens, made.line_tokens


@requirement("CX-6-scope-total")
def test_limits_say_window_hard_limit_and_line_and_where_each_comes_from() -> None:
    rule = CodexLine(model_context_window=500_000, model_auto_compact_token_limit=100_000)
    limits = rule.limits(ModelProfile(name="m", context_window=1, max_context_window=400_000), 5)

    assert (limits.context_window, limits.hard_limit_tokens) == (400_000, 380_000)
    assert limits.effective_input_tokens == limits.hard_limit_tokens
    assert (limits.auto_compact_token_limit, limits.compact_at_input_tokens) == (100_000, 100_000)
    assert (limits.scope, limits.reserved_output_tokens) == ("total", 5)
    assert {name: (o.requested, o.effective) for name, o in limits.provenance.items()} == {
        "context_window": (500_000, 400_000),
        "effective_input_tokens": (None, 380_000),
        "auto_compact_token_limit": (100_000, 100_000),
    }


@pytest.mark.parametrize(
    ("tokens", "decision"),
    [
        (8_999, ("submit", "under_line", 8_999, 9_000)),
        (9_000, ("compact", "token_limit_reached", 9_000, 9_000)),
        (9_500, ("compact", "hard_limit_reached", 9_500, 9_500)),
    ],
)
def test_equality_reaches_line_and_hard_limit(
    tokens: int, decision: tuple[str, str, int, int | None]
) -> None:
    assert decided(LINE, measured(used(tokens))) == decision


@requirement("CX-7-fallback-buffer")
def test_a_fallback_buffer_raises_the_line_alone() -> None:
    rule = CodexLine(auto_compact_fallback_buffer_tokens=300)
    limits = rule.limits(SMALL, 0)

    assert decided(rule, measured(used(9_299)))[0] == "submit"
    assert decided(rule, measured(used(9_300)))[0] == "compact"
    assert rule.decide(measured(used(9_299)), limits).remaining_tokens == 0
    assert limits.hard_limit_tokens == 9_500


def test_before_a_report_nothing_is_reached_and_the_estimate_is_shown() -> None:
    made = LINE.decide(measured(NO_USAGE, items=ASKED), LINE.limits(SMALL, 0))

    assert (made.action, made.measured_tokens, made.input_tokens) == ("submit", 0, 7)


def test_before_a_report_an_image_does_not_count_by_its_base64_text() -> None:
    items = stored(user(image("A" * 400_000)))
    given = replace(measured(NO_USAGE, items=items), estimated_tokens=100_000)
    made = LINE.decide(given, LINE.limits(SMALL, 0))

    assert made.input_tokens == 1_843


def test_what_begins_a_turn_is_measured_in_the_middle_of_it_only() -> None:
    results, message = (-(-item.facts.json_bytes // 4) for item in ASKED[2:])

    assert active_tokens(measured(used(100), items=ASKED)) == 100 + results
    assert (
        active_tokens(measured(used(100), items=ASKED, phase="mid_turn")) == 100 + results + message
    )


@pytest.mark.parametrize(
    ("tokens", "decision"),
    [
        (639, ("submit", "under_line", 39, 40)),
        (640, ("compact", "token_limit_reached", 40, 40)),
        (30, ("submit", "under_line", -570, 40)),
        (9_500, ("compact", "hard_limit_reached", 9_500, 9_500)),
    ],
)
def test_in_body_scope_growth_is_compared_and_may_be_negative(
    tokens: int, decision: tuple[str, str, int, int | None]
) -> None:
    usage = used(tokens, prefill=NO_PREFILL.with_usage(600))

    assert decided(BODY, measured(usage)) == decision
    assert BODY.limits(SMALL, 0).compact_at_input_tokens is None


@pytest.mark.parametrize(
    ("tokens", "reason", "by"),
    [
        (115_199, "under_line", None),
        (115_200, "token_limit_reached", None),
        (115_201, "model_downshift", "big"),
        (121_600, "model_downshift", "big"),
    ],
)
def test_the_previous_model_compacts_what_is_too_much_for_the_next(
    tokens: int, reason: str, by: str | None
) -> None:
    given = measured(
        used(tokens, answered_by=BIG), ModelProfile(name="small", context_window=128_000)
    )
    made = LINE.decide(given, LINE.limits(given.profile, 0))
    later = LINE.decide(replace(given, phase="mid_turn"), LINE.limits(given.profile, 0))

    assert (made.reason, made.compact_with_model) == (reason, by)
    assert later.compact_with_model is None


def test_a_changed_comp_hash_compacts_whatever_is_used() -> None:
    usage = replace(NO_USAGE, answered_by=replace(BIG, comp_hash="a"))
    given = measured(usage, replace(SMALL, comp_hash="b"))
    made = LINE.decide(given, LINE.limits(given.profile, 0))

    assert (made.action, made.reason, made.compact_with_model) == (
        "compact",
        "comp_hash_changed",
        "big",
    )


@pytest.mark.parametrize(
    ("limit", "decision"),
    [
        (None, ("submit", "unknown_window", 10**9, None)),
        (7_000, ("compact", "token_limit_reached", 10**9, 7_000)),
    ],
)
def test_an_unknown_window_has_a_line_only_where_one_is_set(
    limit: int | None, decision: tuple[str, str, int, int | None]
) -> None:
    rule = CodexLine(model_auto_compact_token_limit=limit)

    assert decided(rule, measured(used(10**9), unknown_profile("m"))) == decision


def test_a_prefix_that_reaches_the_line_blocks_unless_parity_is_asked_for() -> None:
    given = measured(used(9_000), fixed=9_000)

    assert decided(LINE, given)[:2] == ("blocked", "cannot_fit")
    assert decided(CodexLine(strict_parity=True), given)[0] == "compact"


def test_in_body_scope_a_prefix_blocks_at_the_hard_limit_alone() -> None:
    grown = used(640, prefill=NO_PREFILL.with_usage(600))
    full = used(9_500, prefill=NO_PREFILL.with_usage(9_490))

    assert decided(BODY, measured(grown, fixed=600))[:2] == ("compact", "token_limit_reached")
    assert decided(BODY, measured(full, fixed=9_500))[:2] == ("blocked", "cannot_fit")


def test_a_model_before_is_never_refused_for_its_window() -> None:
    before = ModelProfile(name="odd", context_window=2**63)
    given = measured(used(9_001, answered_by=before))

    assert decided(LINE, given)[:2] == ("compact", "model_downshift")


@pytest.mark.parametrize("window", [0, -1])
def test_windows_that_make_no_sense_are_refused_unless_parity_is_asked_for(window: int) -> None:
    with pytest.raises(InvalidWindow):
        CodexLine(model_context_window=window).limits(SMALL, 0)

    strict = CodexLine(model_context_window=window, strict_parity=True)
    assert decided(strict, measured(NO_USAGE))[0] == "compact"
