import pytest

from app.compaction.tool_pairs import (
    PairGroup,
    PassedOver,
    Reason,
    oldest_calls,
    pair_cutoff,
    pair_group,
    pair_groups,
    visible_call_ids,
    with_pair_summary,
)
from app.core.items import Item
from app.core.visibility import AGENT_ONLY, USER_ONLY, Shown, agents_view, users_view
from tests.requirements import requirement
from tests.unit.core.builders import COUNTER, assistant, call, result, said, stored, tool, user

CUTOFFS = [
    pytest.param(128_000, 0.8, 15, id="C1"),
    pytest.param(200_000, 0.8, 24, id="C2"),
    pytest.param(1_000_000, 0.8, 120, id="C3"),
    pytest.param(10_000_000, 0.8, 500, id="C5"),
    pytest.param(200_000, 0.3, 10, id="C6"),
    pytest.param(1_000_000, 0.5, 75, id="C7"),
    pytest.param(200_000, 1.0, 30, id="C9"),
    pytest.param(91_667, 0.8, 10, id="C10"),
    pytest.param(91_668, 0.8, 11, id="C10 one token more"),
    pytest.param(200_000, 0.0, 24, id="a threshold that is off"),
    pytest.param(200_000, 1.1, 24, id="a threshold above 1"),
    pytest.param(1, 0.8, 10, id="a tiny window"),
]
SELECTIONS = [
    pytest.param(15, 5, 0, 0, id="P1"),
    pytest.param(16, 5, 0, 10, id="one more than the cut-off and a batch"),
    pytest.param(20, 2, 0, 10, id="P3"),
    pytest.param(20, 2, 8, 0, id="P4"),
    pytest.param(20, 2, 7, 10, id="P5"),
    pytest.param(20, 2, 99, 0, id="P9"),
    pytest.param(0, 2, 0, 0, id="no calls"),
]


def shown(*items: Item) -> tuple[Shown, ...]:
    return tuple(Shown(item=item) for item in stored(*items))


def pairs(count: int) -> list[Item]:
    return [
        item
        for number in range(count)
        for item in (assistant(call(f"call{number}")), tool(result(f"call{number}", "x")))
    ]


def hidden(messages: tuple[Shown, ...], index: int) -> tuple[Shown, ...]:
    gone = messages[index].hidden_from_agent()
    return (*messages[:index], gone, *messages[index + 1 :])


@pytest.mark.parametrize(("limit", "threshold", "cutoff"), CUTOFFS)
def test_the_cut_off_follows_from_the_line(limit: int, threshold: float, cutoff: int) -> None:
    assert pair_cutoff(limit, threshold) == cutoff


@requirement("GO-7.3-pairs-of-this-turn-protected")
@pytest.mark.parametrize(("count", "cutoff", "protected", "taken"), SELECTIONS)
def test_the_oldest_ten_are_taken_once_a_batch_is_over_the_cut_off(
    count: int, cutoff: int, protected: int, taken: int
) -> None:
    call_ids = visible_call_ids(shown(*pairs(count)))

    assert oldest_calls(call_ids, cutoff, protected) == tuple(
        f"call{number}" for number in range(taken)
    )


def test_calls_that_the_agent_does_not_see_are_not_counted() -> None:
    assert visible_call_ids(hidden(shown(*pairs(3)), 2)) == ("call0", "call2")


def test_P7_parallel_calls_are_summarised_once() -> None:
    history = shown(
        *(
            item
            for number in range(7)
            for item in (
                assistant(call(f"a{number}"), call(f"b{number}")),
                tool(result(f"a{number}", "x"), result(f"b{number}", "y")),
            )
        )
    )
    taken = oldest_calls(visible_call_ids(history), 2, 0)
    groups, passed = pair_groups(history, taken)

    assert len(taken) == 10
    assert [group.call_ids for group in groups] == [(f"a{n}", f"b{n}") for n in range(5)]
    assert passed == ()


def test_parallel_calls_may_be_answered_by_messages_of_their_own() -> None:
    history = shown(
        user("go"), assistant(call("a"), call("b")), tool(result("b")), tool(result("a"))
    )

    assert pair_groups(history, ["a", "b"]) == (
        (PairGroup(call_ids=("a", "b"), indexes=(1, 2, 3)),),
        (),
    )


def test_P8_a_result_that_the_agent_does_not_see_is_no_pair() -> None:
    passed = pair_group(hidden(shown(*pairs(1)), 1), "call0")

    assert passed == PassedOver(call_id="call0", reason="no_visible_pair")
    assert isinstance(passed, PassedOver)
    assert passed.detail == "No agent-visible tool pair for 'call0'"


PASSED = [
    pytest.param(shown(assistant(call("a"))), "no_visible_pair", id="no result yet"),
    pytest.param(shown(tool(result("a"))), "no_visible_pair", id="no call"),
    pytest.param(
        shown(assistant(call("a"), call("b")), tool(result("a"))), "not_whole",
        id="another call of the message waits",
    ),
    pytest.param(
        shown(assistant(call("b")), assistant(call("a")), tool(result("a"), result("b"))),
        "not_whole",
        id="the result of another message's call goes along",
    ),
    pytest.param(
        shown(assistant(call("a")), tool(result("a")), assistant(call("a")), tool(result("a"))),
        "not_whole",
        id="an id that was used twice",
    ),
    pytest.param(
        (Shown(item=assistant(call("a"))), Shown(item=tool(result("a")))), "not_whole",
        id="messages that are not stored",
    ),
    pytest.param(
        shown(tool(result("a")), assistant(call("a"))), "not_whole", id="a result before its call",
    ),
    pytest.param(
        shown(assistant(call("a")), tool(result("a", "x", state="running"))), "not_whole",
        id="a result that is still to come",
    ),
    pytest.param(
        shown(assistant(call("a")), assistant(call("b")), tool(result("a")), tool(result("b"))),
        "not_whole",
        id="a summary would part another result from its call",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("history", "reason"), PASSED)
def test_calls_that_are_no_whole_stored_group_are_passed_over(
    history: tuple[Shown, ...], reason: Reason
) -> None:
    passed = PassedOver(call_id="a", reason=reason)

    assert pair_group(history, "a") == passed
    assert pair_groups(history, ["a"]) == ((), (passed,))


def test_the_reason_of_a_group_that_is_not_whole_is_told() -> None:
    passed = PassedOver(call_id="a", reason="not_whole")

    assert passed.detail == "the messages of 'a' hold more than whole stored pairs"


@requirement("GO-7.3-pair-hidden-summary-shown", "GO-7.3-user-keeps-the-output")
def test_a_summary_takes_the_place_of_a_group_for_the_agent_alone() -> None:
    history = shown(user("go"), *pairs(1), assistant("done"))
    group = pair_group(history, "call0")
    assert isinstance(group, PairGroup)
    summary = user("read a file")
    after = with_pair_summary(history, group, summary)

    assert [each.visibility for each in after[1:4]] == [USER_ONLY, USER_ONLY, AGENT_ONLY]
    assert said(agents_view(after, COUNTER)) == said([user("go"), summary, assistant("done")])
    assert users_view(after, COUNTER) == users_view(history, COUNTER)
