import pytest

from app.compaction.errors import EmptyConversation, MissingLastUser, NothingToCompact
from app.compaction.fold import FoldPlan, plan_fold
from app.core.blocks import CallState
from app.core.errors import ContextError
from app.core.items import Item
from tests.unit.core.builders import assistant, call, result, stored, synthetic, tool, user

REPLAY = synthetic("user", "last_user_request_replay", "do the task")
SUMMARY = synthetic("user", "compaction_summary", "what happened")
REMINDER = synthetic("user", "system_reminder", "nothing durable")
COMPACTED = (REPLAY, SUMMARY, REMINDER)

SKILL = user("a skill", kind="skill_instruction")
AGENT_MESSAGE = user("found it", kind="agent_message")
WORLD = user("<sandbox_policy>", kind="world_state")
ASKING = assistant(call("c1", "confirm", state="pending"))


def running(id: str) -> Item:
    return tool(result(id, state="running"))


def refusal(*items: Item) -> type[ContextError] | None:
    try:
        plan_fold(items)
    except ContextError as error:
        return type(error)
    return None


def test_everything_is_folded_where_no_call_waits() -> None:
    items = stored(user("one"), assistant(call("c1")), tool(result("c1")), user("two"), WORLD)
    plan = plan_fold(items)

    assert plan == FoldPlan(keep_from=5, anchor_index=3, through_sequence=5)
    assert (plan.fold_through, plan.message_count) == (4, 5)


def test_K4_world_state_behind_the_request_is_not_the_anchor() -> None:
    assert plan_fold(stored(user("go"), WORLD)).anchor_index == 0


def test_K5_the_replayed_request_is_the_anchor_of_the_next_fold() -> None:
    items = (*COMPACTED, assistant("done", sequence=9))

    assert plan_fold(items) == FoldPlan(keep_from=4, anchor_index=0, through_sequence=9)


@pytest.mark.parametrize(
    ("items", "error"),
    [
        pytest.param((), EmptyConversation, id="no items"),
        pytest.param(stored(SKILL, AGENT_MESSAGE), MissingLastUser, id="K3"),
        pytest.param(stored(WORLD, WORLD), MissingLastUser, id="B053 only world state"),
        pytest.param(COMPACTED, NothingToCompact, id="K5 only a compaction"),
        pytest.param((*COMPACTED, WORLD), NothingToCompact, id="B062 world state behind one"),
        pytest.param(
            (*COMPACTED, ASKING), NothingToCompact, id="a compaction, then a waiting call"
        ),
        pytest.param((ASKING, user("go")), NothingToCompact, id="a waiting call first"),
        pytest.param((SKILL, ASKING, user("go")), MissingLastUser, id="the request is kept"),
        pytest.param((user("go"),), None, id="one request"),
    ],
)
def test_a_fold_that_would_gain_nothing_is_refused(
    items: tuple[Item, ...], error: type[ContextError] | None
) -> None:
    assert refusal(*items) is error


@pytest.mark.parametrize("state", ["pending", "submitted"])
def test_B014_a_waiting_call_stays_behind_the_summary_with_all_that_follows(
    state: CallState,
) -> None:
    turns = [message for _ in range(10) for message in (user("more"), assistant("done"))]
    asking = assistant(call("c1", "confirm", state=state))
    items = stored(user("go"), assistant("on it"), asking, *turns)
    answered = stored(user("go"), assistant("on it"), asking, *turns, tool(result("c1")))

    assert plan_fold(items) == FoldPlan(keep_from=2, anchor_index=0, through_sequence=2)
    assert plan_fold(answered) == FoldPlan(keep_from=24, anchor_index=21, through_sequence=24)


def test_a_call_whose_only_results_are_running_waits() -> None:
    items = stored(user("go"), assistant(call("c1")), running("c1"), user("and?"), running("c1"))

    assert plan_fold(items).keep_from == 1


def test_a_final_result_closes_a_call_that_was_running() -> None:
    items = stored(user("go"), assistant(call("c1")), running("c1"), tool(result("c1")))

    assert plan_fold(items).keep_from == 4


def test_a_finished_call_without_a_result_is_interrupted_and_folded() -> None:
    assert plan_fold(stored(user("go"), assistant(call("c1")), user("stop"))).keep_from == 3


def test_the_earliest_of_several_waiting_calls_counts() -> None:
    items = stored(
        user("go"),
        assistant(call("c1"), call("c2", state="pending")),
        tool(result("c1")),
        user("more"),
        assistant(call("c3", state="pending")),
    )

    assert plan_fold(items).keep_from == 1


def test_a_call_whose_worker_is_gone_does_not_hold_a_fold_back() -> None:
    items = stored(user("go"), ASKING, user("more"), assistant(call("c2", state="pending")))

    assert plan_fold(items, frozenset({"m2"})).keep_from == 3
    assert plan_fold(items, frozenset({"m2", "m4"})).keep_from == 4


def test_B001_a_call_stays_with_a_result_that_stays() -> None:
    items = stored(
        user("go"),
        assistant(call("c1", state="submitted")),
        user("more"),
        assistant(call("c2", state="pending")),
        tool(result("c1", "late")),
    )

    assert plan_fold(items).keep_from == 1
    assert plan_fold(items, frozenset({"m2"})).keep_from == 1
    assert plan_fold(items, frozenset({"m4"})).keep_from == 5


def test_calls_that_stay_with_their_results_pull_earlier_ones_along() -> None:
    items = stored(
        user("go"),
        assistant(call("c1", state="submitted")),
        user("more"),
        assistant(call("c2", state="submitted")),
        tool(result("c1")),
        assistant(call("c3", state="pending")),
        tool(result("c2")),
    )

    assert plan_fold(items).keep_from == 1


def test_live_items_have_no_sequence_to_fold_through() -> None:
    assert plan_fold((user("go"), assistant("done"))).through_sequence is None
    assert plan_fold((user("go", sequence=4), assistant("done"))).through_sequence == 4
