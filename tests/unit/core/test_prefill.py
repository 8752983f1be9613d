import pytest

from app.core.prefill import NO_PREFILL, Prefill
from tests.requirements import requirement

Event = tuple[str, int]

SEQUENCES: list[object] = [
    pytest.param(
        [("usage", 600), ("replace_history", 0), ("estimate", 5_469), ("usage", 30),
         ("usage", 700)],
        [600, None, 5_469, 30, 30],
        id="V163",
    ),
    pytest.param([("usage", -5)], [0], id="V164"),
    pytest.param([("estimate", -5)], [0], id="an estimate is not negative either"),
    pytest.param([("estimate", 10), ("estimate", 20)], [10, 20], id="a newer estimate counts"),
    pytest.param([("usage", 0), ("usage", 9)], [0, 0], id="0 was observed"),
    pytest.param([("usage", 600), ("estimate", 9)], [600, 600], id="no estimate replaces a report"),
    pytest.param([("replace_history", 0)], [None], id="a new window has none"),
]  # fmt: skip


@requirement("CX-6-observed-baseline-wins")
@pytest.mark.parametrize(("events", "expected"), SEQUENCES)
def test_the_first_report_of_a_window_is_its_baseline(
    events: list[Event], expected: list[int | None]
) -> None:
    prefill, seen = NO_PREFILL, []
    for event, tokens in events:
        prefill = after(prefill, event, tokens)
        seen.append(prefill.input_tokens)

    assert seen == expected


def after(prefill: Prefill, event: str, tokens: int) -> Prefill:
    match event:
        case "usage":
            return prefill.with_usage(tokens)
        case "estimate":
            return prefill.with_estimate(tokens)
        case _:
            return NO_PREFILL


def test_a_baseline_says_how_it_is_known() -> None:
    estimated = NO_PREFILL.with_estimate(10)

    assert Prefill(source="none", input_tokens=None) == NO_PREFILL
    assert estimated == Prefill(source="estimated", input_tokens=10)
    assert estimated.with_usage(12) == Prefill(source="observed", input_tokens=12)
