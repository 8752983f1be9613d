from math import inf, nan

import pytest

from app.core.chat_count import SpecialTokens
from app.core.visibility import USER_ONLY, Shown, agents_view
from app.policies.window_share import (
    DEFAULT_THRESHOLD,
    ShareCheck,
    context_tokens,
    exceeds_share,
    threshold_in_force,
)
from app.tokenizers import counter_for
from tests.requirements import requirement
from tests.unit.core.builders import user

O200K = SpecialTokens(counter=counter_for("o200k_base"))
HELLO = [Shown(item=user("hello"))]
HIDDEN = [Shown(item=user("hello"), visibility=USER_ONLY)]
LONG = [Shown(item=user("hello " * 1_000))]

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
    pytest.param(1, 0, 0.8, True, id="any token exceeds a window of 0"),
    pytest.param(0, 0, 0.8, False, id="no token exceeds nothing"),
    pytest.param(999_999, 1_000, nan, False, id="no number"),
    pytest.param(999_999, 1_000, inf, False, id="infinite"),
]
CONTEXTS = [
    pytest.param(None, HELLO, 10, 0.7, True, id="T11"),
    pytest.param(None, HELLO, 10, 0.8, False, id="8 of 10 are not more than 0.8"),
    pytest.param(0, LONG, 10, 0.5, False, id="T13"),
    pytest.param(None, LONG, 10, 0.5, True, id="the same without a total"),
    pytest.param(None, HIDDEN, 1, 0.5, False, id="T14"),
]


@requirement("GO-7.2-strictly-greater", "GO-7.2-threshold-default", "GO-7.2-threshold-override")
@pytest.mark.parametrize(("tokens", "limit", "override", "is_due"), TOTALS)
def test_a_compaction_is_due_above_a_share_of_the_window(
    tokens: int, limit: int, override: float | None, is_due: bool
) -> None:
    threshold = threshold_in_force(override, DEFAULT_THRESHOLD)

    assert ShareCheck(tokens=tokens, limit_tokens=limit, threshold=threshold).is_due is is_due


@requirement("GO-7.2-usage-before-estimate")
@pytest.mark.parametrize(("total", "history", "limit", "threshold", "is_due"), CONTEXTS)
def test_the_latest_total_counts_and_without_one_what_the_agent_sees(
    total: int | None, history: list[Shown], limit: int, threshold: float, is_due: bool
) -> None:
    tokens = context_tokens(total, agents_view(history, O200K), O200K)

    assert exceeds_share(tokens, limit, threshold) is is_due


@requirement("GO-7.2-provider-owns-its-context")
def test_T10_a_provider_that_owns_its_context_is_never_compacted() -> None:
    check = ShareCheck(tokens=999_999, limit_tokens=1_000, threshold=0.8, owns_context=True)

    assert not check.is_due


@pytest.mark.parametrize(
    ("override", "configured", "threshold"),
    [
        pytest.param(0.3, 0.8, 0.3, id="T15 the override comes first"),
        pytest.param(0.0, 0.8, 0.0, id="an override of 0 is one"),
        pytest.param(None, "0.5", 0.5, id="configured as text"),
        pytest.param(None, 0.6, 0.6, id="configured as a number"),
        pytest.param(None, "half", 0.8, id="no number"),
        pytest.param(None, None, 0.8, id="nothing is configured"),
    ],
)
def test_the_threshold_is_the_override_or_the_configured_or_the_default(
    override: float | None, configured: str | float | None, threshold: float
) -> None:
    assert threshold_in_force(override, configured) == threshold
