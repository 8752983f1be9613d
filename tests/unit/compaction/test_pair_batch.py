"""Batches of tool pairs: which are due, which are protected, and what stands for them in a fold."""

from dataclasses import replace

import pytest

from app.compaction.fold import plan_fold
from app.compaction.pair_batch import due_groups, planned_pair, protected_calls
from app.compaction.record import PlannedPair
from app.core.items import Item
from tests.unit.core.builders import assistant, call, result, stored, synthetic, tool, user

WORLD = replace(user("a.rs"), kind="world_state")


def pairs(count: int, first: int = 0) -> list[Item]:
    return [
        item
        for number in range(first, first + count)
        for item in (assistant(call(f"c{number}")), tool(result(f"c{number}", "x")))
    ]


@pytest.mark.parametrize(
    ("items", "protected"),
    [
        pytest.param([user("go"), *pairs(3)], 3, id="behind the request"),
        pytest.param([*pairs(3), user("go")], 0, id="before the request"),
        pytest.param([*pairs(2), assistant("so"), *pairs(3, 2)], 3, id="the trailing run"),
        pytest.param(
            [*pairs(2), assistant("so"), *pairs(1, 2), WORLD, *pairs(1, 3)], 2, id="world"
        ),
        pytest.param([*pairs(2), assistant("done")], 0, id="no tool at the end"),
        pytest.param(pairs(4), 4, id="nothing but tools"),
    ],
)
def test_calls_of_the_current_reply_are_protected(items: list[Item], protected: int) -> None:
    assert protected_calls(stored(*items)) == protected


def test_a_batch_is_its_whole_groups_and_none_before_it_is_due() -> None:
    items = stored(*pairs(13), user("more"))
    groups = due_groups(items, 2)

    assert [group.indexes for group in groups] == [(2 * n, 2 * n + 1) for n in range(10)]
    assert due_groups(items, 3) == ()
    assert due_groups(items[1:], 1)[0].call_ids == ("c1",)


def test_a_group_is_planned_by_the_ids_and_places_of_its_messages() -> None:
    items = stored(user("go"), *pairs(12), user("more"))
    planned = planned_pair(items, due_groups(items, 1)[0])

    assert planned == PlannedPair(
        call_ids=("c0",),
        message_ids=tuple(item.source.id or "" for item in items[1:3]),
        sequences=(2, 3),
    )


def test_a_fold_reaches_through_the_pair_that_a_summary_stands_for() -> None:
    summary = replace(synthetic("user", "tool_pair_summary", "S"), depends_on=9)
    whole = plan_fold((*stored(user("go")), summary))
    earlier = synthetic("user", "compaction_summary", "before")
    replay = synthetic("user", "last_user_request_replay", "go")

    assert whole.through_sequence == 9
    assert plan_fold((replay, earlier, summary)).through_sequence == 9
