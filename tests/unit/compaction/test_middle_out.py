import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compaction.middle_out import (
    REMOVED_PERCENTS,
    Failure,
    LadderEnd,
    MiddleOut,
    next_level,
    removed_positions,
    without_results,
)
from app.core.items import Item
from tests.requirements import requirement
from tests.unit.core.builders import assistant, call, mixed, result, said, tool, user

HALF_OF_20 = "9 10 8 11 7 12 6 13 5 14"
HALF_OF_21 = "10 9 11 8 12 7 13 6 14 5"
BOTH = [
    pytest.param(2, ("0", "0", "0", "0 1"), id="2"),
    pytest.param(4, ("1", "1", "1 2", "1 2 0 3"), id="4"),
    pytest.param(6, ("2", "2", "2 3 1", "2 3 1 4 0 5"), id="6"),
    pytest.param(8, ("3", "3", "3 4 2 5", "3 4 2 5 1 6 0 7"), id="8"),
    pytest.param(10, ("4", "4 5", "4 5 3 6 2", "4 5 3 6 2 7 1 8 0 9"), id="10"),
    pytest.param(12, ("5", "5 6", "5 6 4 7 3 8", "5 6 4 7 3 8 2 9 1 10 0 11"), id="12"),
    pytest.param(
        20, ("9 10", "9 10 8 11", HALF_OF_20, f"{HALF_OF_20} 4 15 3 16 2 17 1 18 0 19"), id="20"
    ),
]
LEGACY = [
    pytest.param(1, ("", "", "", ""), id="1"),
    pytest.param(3, ("0", "0", "0", "0 1"), id="3"),
    pytest.param(5, ("1", "1", "1 2", "1 2 0 3"), id="5"),
    pytest.param(7, ("2", "2", "2 3 1", "2 3 1 4 0 5"), id="7"),
    pytest.param(9, ("3", "3", "3 4 2 5", "3 4 2 5 1 6 0 7"), id="9"),
    pytest.param(11, ("4", "4 5", "4 5 3 6 2", "4 5 3 6 2 7 1 8 0 9"), id="11"),
    pytest.param(
        21, ("9 10", "9 10 8 11", HALF_OF_20, f"{HALF_OF_20} 4 15 3 16 2 17 1 18 0 19"), id="21"
    ),
]
CENTERED = [
    pytest.param(1, ("0", "0", "0", "0"), id="1"),
    pytest.param(3, ("1", "1", "1", "1 0 2"), id="3"),
    pytest.param(5, ("2", "2", "2 1", "2 1 3 0 4"), id="5"),
    pytest.param(7, ("3", "3", "3 2 4", "3 2 4 1 5 0 6"), id="7"),
    pytest.param(9, ("4", "4", "4 3 5 2", "4 3 5 2 6 1 7 0 8"), id="9"),
    pytest.param(11, ("5", "5 4", "5 4 6 3 7", "5 4 6 3 7 2 8 1 9 0 10"), id="11"),
    pytest.param(
        21,
        ("10 9", "10 9 11 8", HALF_OF_21, f"{HALF_OF_21} 15 4 16 3 17 2 18 1 19 0 20"),
        id="21",
    ),
]
KEPT = [
    pytest.param(10, "centered", (10, 9, 8, 5, 0), id="10"),
    pytest.param(20, "centered", (20, 18, 16, 10, 0), id="20"),
    pytest.param(4, "centered", (4, 3, 3, 2, 0), id="4"),
    pytest.param(2, "legacy", (2, 1, 1, 1, 0), id="2"),
    pytest.param(3, "legacy", (3, 2, 2, 2, 1), id="3 legacy"),
    pytest.param(3, "centered", (3, 2, 2, 2, 0), id="3 centered"),
    pytest.param(1, "legacy", (1, 1, 1, 1, 1), id="1 legacy"),
    pytest.param(1, "centered", (1, 0, 0, 0, 0), id="1 centered"),
    pytest.param(0, "legacy", (0, 0, 0, 0, 0), id="none"),
]
CLIMBS = [
    pytest.param(10, 10, "legacy", 1, 10, id="the whole history fits"),
    pytest.param(10, 9, "legacy", 2, 9, id="L2"),
    pytest.param(10, 9, "centered", 2, 9, id="L2 centered"),
    pytest.param(10, 8, "legacy", 3, 8, id="L3"),
    pytest.param(10, 8, "centered", 3, 8, id="L3 centered"),
    pytest.param(10, 5, "legacy", 4, 5, id="L4"),
    pytest.param(10, 5, "centered", 4, 5, id="L4 centered"),
    pytest.param(10, 0, "centered", 5, 0, id="no result fits"),
    pytest.param(3, 0, "legacy", 5, "everything_removed", id="L6"),
    pytest.param(3, 0, "centered", 5, 0, id="L7"),
    pytest.param(1, 0, "legacy", 5, "everything_removed", id="L8"),
    pytest.param(1, 0, "centered", 2, 0, id="a single result goes at once when centered"),
    pytest.param(0, -1, "legacy", 5, "everything_removed", id="L10"),
    pytest.param(0, -1, "centered", 1, "nothing_to_remove", id="L11"),
]


def positions(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


def removals(count: int, order: MiddleOut) -> tuple[tuple[int, ...], ...]:
    return tuple(removed_positions(count, percent, order) for percent in REMOVED_PERCENTS[1:])


def history(results: int) -> tuple[Item, ...]:
    pairs = [
        item
        for number in range(results)
        for item in (assistant(call(f"c{number}")), tool(result(f"c{number}", f"r{number}")))
    ]
    return (user("go"), *pairs, assistant("done"))


def climb(
    results: int, most_kept: int, order: MiddleOut
) -> tuple[int, int | str, list[tuple[Item, ...]]]:
    """Calls of a model that takes so many results, and what it took or why it was given up."""
    level, requests = 0, list[tuple[Item, ...]]()
    while True:
        items, gone = without_results(history(results), level, order)
        requests.append(items)
        if results - len(gone) <= most_kept:
            return len(requests), results - len(gone), requests
        after = next_level("context_overflow", level, results, order)
        if isinstance(after, LadderEnd):
            return len(requests), after.reason, requests
        level = after


@requirement("GO-7.2-removed-from-the-middle")
@pytest.mark.parametrize(("count", "expected"), BOTH)
def test_an_even_number_of_results_goes_in_one_order(count: int, expected: tuple[str, ...]) -> None:
    assert removals(count, "legacy") == tuple(map(positions, expected))
    assert removals(count, "centered") == tuple(map(positions, expected))


@pytest.mark.parametrize(("count", "expected"), LEGACY)
def test_the_legacy_order_never_reaches_the_last_of_an_odd_number(
    count: int, expected: tuple[str, ...]
) -> None:
    assert removals(count, "legacy") == tuple(map(positions, expected))


@requirement("GO-7.2-removed-from-the-middle")
@pytest.mark.parametrize(("count", "expected"), CENTERED)
def test_the_centered_order_begins_in_the_very_middle(
    count: int, expected: tuple[str, ...]
) -> None:
    assert removals(count, "centered") == tuple(map(positions, expected))


@requirement("GO-7.2-removal-ladder")
@pytest.mark.parametrize(("count", "order", "kept"), KEPT)
def test_at_least_one_result_goes_from_the_second_level_on(
    count: int, order: MiddleOut, kept: tuple[int, ...]
) -> None:
    gone = [len(removed_positions(count, percent, order)) for percent in REMOVED_PERCENTS]

    assert tuple(count - number for number in gone) == kept


@requirement("GO-7.2-removal-ladder")
@pytest.mark.parametrize(("results", "most_kept", "order", "calls", "end"), CLIMBS)
def test_an_overflow_asks_again_with_fewer_results(
    results: int, most_kept: int, order: MiddleOut, calls: int, end: int | str
) -> None:
    assert climb(results, most_kept, order)[:2] == (calls, end)


def test_L8_a_single_result_is_sent_five_times_in_the_legacy_order() -> None:
    _, _, requests = climb(1, 0, "legacy")

    assert requests == [history(1)] * 5


@pytest.mark.parametrize("order", ["legacy", "centered"])
def test_L12_another_failure_ends_the_ladder_at_once(order: MiddleOut) -> None:
    failure: Failure = "other"

    assert next_level(failure, 0, 10, order) == LadderEnd(reason="other_failure")


def test_a_message_with_a_result_goes_whole_and_that_of_its_call_stays() -> None:
    both = mixed("user", result("c1", "log"), "and go on")
    items, gone = without_results([user("go"), assistant(call("c1")), both], 1, "centered")

    assert said(items) == said([user("go"), assistant(call("c1"))])
    assert gone == (2,)


@given(st.integers(0, 60), st.sampled_from(REMOVED_PERCENTS))
def test_a_level_removes_all_that_the_one_below_it_removed(count: int, percent: int) -> None:
    whole = removed_positions(count, 100, "centered")
    some = removed_positions(count, percent, "centered")

    assert sorted(whole) == list(range(count))
    assert whole[: len(some)] == some
    if count % 2 == 0:
        assert removed_positions(count, percent, "legacy") == some
