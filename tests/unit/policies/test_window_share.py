from dataclasses import replace
from math import inf, nan

import pytest

from app.core.chat_count import SeparateChats, SpecialTokens
from app.core.items import Item
from app.core.model_profile import ModelProfile
from app.core.policy import Measured, ShownItems
from app.core.usage import NO_USAGE, LastTotal
from app.core.visibility import USER_ONLY, Shown, agents_view
from app.policies.presets import policy_from
from app.policies.window_share import exceeds_share
from app.tokenizers import counter_for
from tests.requirements import requirement
from tests.unit.core.builders import user

O200K = SpecialTokens(counter=counter_for("o200k_base"))
HELLO = (user("hello"),)
HIDDEN = agents_view([Shown(item=user("hello"), visibility=USER_ONLY)], O200K)
LONG = (user("hello " * 1_000),)

TOTALS = [
    pytest.param(800, 1_000, None, False, id="T1"),
    pytest.param(801, 1_000, None, True, id="T2"),
    pytest.param(102_400, 128_000, 0.8, False, id="T3"),
    pytest.param(102_401, 128_000, 0.8, True, id="one token over 0.8 of 128 000"),
    pytest.param(999_999, 1_000, 0.0, False, id="T5"),
    pytest.param(999_999, 1_000, 1.0, False, id="T6"),
    pytest.param(999_999, 1_000, -0.5, False, id="T7"),
    pytest.param(999_999, 1_000, 1.5, False, id="above 1 it is switched off too"),
    pytest.param(995, 1_000, 0.99, True, id="T9"),
    pytest.param(301, 1_000, 0.3, True, id="T15"),
    pytest.param(300, 1_000, 0.3, False, id="0.3 exactly"),
]
CONTEXTS = [
    pytest.param(None, HELLO, 10, 0.7, True, id="T11"),
    pytest.param(None, HELLO, 10, 0.8, False, id="8 of 10 are not more than 0.8"),
    pytest.param(0, LONG, 10, 0.5, False, id="T13"),
    pytest.param(None, LONG, 10, 0.5, True, id="the same without a total"),
    pytest.param(None, HIDDEN, 1, 0.5, False, id="T14"),
]


def action(
    total: int | None, profile: ModelProfile, threshold: float | None, items: tuple[Item, ...] = ()
) -> str:
    """What preset goose does with a context."""
    override = {} if threshold is None else {"threshold": threshold}
    policy = policy_from({"preset": "goose", **override})
    last = None if total is None else LastTotal(tokens=total, source="observed")
    measured = Measured(
        profile=profile,
        estimated_tokens=0,
        tokenizer_tokens=0,
        calibrated_tokens=None,
        fixed_tokens=0,
        least_fixed_tokens=0,
        items=items,
        whole=ShownItems(items=items, chat=SeparateChats(counter=O200K)),
        usage=replace(NO_USAGE, last_total=last),
        phase="pre_turn",
    )
    return policy.decide(measured, policy.limits(profile, 0)).action


@requirement("GO-7.2-strictly-greater", "GO-7.2-threshold-default", "GO-7.2-threshold-override")
@pytest.mark.parametrize(("tokens", "limit", "override", "is_due"), TOTALS)
def test_a_compaction_is_due_above_a_share_of_the_window(
    tokens: int, limit: int, override: float | None, is_due: bool
) -> None:
    profile = ModelProfile(name="m", context_window=limit)

    assert action(tokens, profile, override) == ("compact" if is_due else "submit")


@requirement("GO-7.2-usage-before-estimate", "GO-7.2-estimate-without-usage")
@pytest.mark.parametrize(("total", "items", "limit", "threshold", "is_due"), CONTEXTS)
def test_the_latest_total_counts_and_without_one_what_the_agent_sees(
    total: int | None, items: tuple[Item, ...], limit: int, threshold: float, is_due: bool
) -> None:
    profile = ModelProfile(name="m", context_window=limit)

    assert action(total, profile, threshold, items) == ("compact" if is_due else "submit")


@requirement("GO-7.2-provider-owns-its-context")
def test_T10_a_provider_that_owns_its_context_is_never_compacted() -> None:
    profile = ModelProfile(name="m", context_window=1_000, manages_own_context=True)

    assert action(999_999, profile, 0.8) == "submit"


@pytest.mark.parametrize(
    ("tokens", "limit", "threshold", "is_over"),
    [
        pytest.param(1, 0, 0.8, True, id="any token exceeds a window of 0"),
        pytest.param(0, 0, 0.8, False, id="no token exceeds nothing"),
        pytest.param(999_999, 1_000, nan, False, id="no number"),
        pytest.param(999_999, 1_000, inf, False, id="infinite"),
    ],
)
def test_numbers_that_no_profile_and_no_policy_can_have(
    tokens: int, limit: int, threshold: float, is_over: bool
) -> None:
    assert exceeds_share(tokens, limit, threshold) is is_over
