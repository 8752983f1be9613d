import pytest

from app.core.blocks import CallState, ResultState, ToolResult
from app.core.items import Item
from app.core.messages import Real, Synthetic
from app.core.normalize import INTERRUPTED_TEXT, WAITING_TEXT, normalize
from app.core.request_copy import Repair, RequestCopy
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    result,
    said,
    step_context,
    stored,
    tool,
    user,
)

PENDING = assistant(call("c1", state="pending"))
FINISHED = assistant(call("c1"))
MEANWHILE = user("meanwhile")
RUNNING = result("c1", "started", state="running")
DONE = result("c1", "done")


def normalized(*items: Item) -> RequestCopy:
    return normalize(copy_of(*items), step_context())


def waiting(id: str = "c1") -> ToolResult:
    return result(id, WAITING_TEXT, state="running")


def dropped(item_index: int) -> Repair:
    return Repair(
        code="duplicate_tool_result_dropped",
        item_index=item_index,
        message_id=f"m{item_index + 1}",
        call_id="c1",
    )


def test_the_text_of_a_call_that_is_still_running() -> None:
    assert WAITING_TEXT == "Tool result not available yet: the call is still running."


@pytest.mark.parametrize("state", ["pending", "submitted"])
def test_a_waiting_call_without_a_result_has_a_running_one_made(state: CallState) -> None:
    history = stored(assistant(call("c1", state=state)), MEANWHILE)
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], tool(waiting()), MEANWHILE])
    assert isinstance(copy.items[1].source, Synthetic)
    assert copy.repairs == (
        Repair(code="tool_result_synthesised", item_index=0, message_id="m1", call_id="c1"),
    )


@pytest.mark.parametrize("state", ["success", "error", "interrupted", "denied"])
def test_a_late_final_result_takes_the_place_of_its_waiting_call(state: ResultState) -> None:
    late = result("c1", "late", state=state)
    history = stored(PENDING, MEANWHILE, assistant("ok"), tool(late), MEANWHILE)
    copy = normalized(*history)

    assert copy.items == (history[0], history[3], history[1], history[2], history[4])
    assert copy.items[1].source == Real(id="m4", sequence=4)
    assert copy.repairs == ()


def test_a_running_result_stands_in_until_the_final_one_comes() -> None:
    history = stored(FINISHED, tool(RUNNING), MEANWHILE)
    copy = copy_of(*history)

    assert normalize(copy, step_context()) is copy


def test_the_final_result_wins_over_the_running_one_before_it() -> None:
    history = stored(FINISHED, tool(RUNNING), MEANWHILE, tool(DONE))
    copy = normalized(*history)

    assert copy.items == (history[0], history[3], history[2])
    assert copy.repairs == (dropped(1),)


def test_of_several_running_results_the_first_stands_in() -> None:
    history = stored(PENDING, tool(RUNNING), MEANWHILE, tool(RUNNING), tool(RUNNING))
    copy = normalized(*history)

    assert copy.items == (history[0], history[1], history[2])
    assert copy.repairs == (dropped(3), dropped(4))


def test_of_several_final_results_the_first_wins() -> None:
    history = stored(PENDING, MEANWHILE, tool(DONE), tool(result("c1", "again")))
    copy = normalized(*history)

    assert copy.items == (history[0], history[2], history[1])
    assert copy.repairs == (dropped(3),)


def test_a_running_result_behind_other_messages_makes_its_call_a_waiting_one() -> None:
    history = stored(FINISHED, MEANWHILE, tool(RUNNING), MEANWHILE, tool(DONE))

    assert normalized(*history[:4]).items == (history[0], history[2], history[1], history[3])
    assert normalized(*history).items == (history[0], history[4], history[1], history[3])


def test_a_final_result_closes_its_call_for_running_ones() -> None:
    history = stored(FINISHED, tool(DONE), tool(RUNNING), MEANWHILE, tool(RUNNING))
    copy = normalized(*history)

    assert copy.items == (history[0], history[1], history[3])
    assert [repair.code for repair in copy.repairs] == [
        "duplicate_tool_result_dropped",
        "orphan_tool_result_dropped",
    ]


def test_a_running_result_does_not_bring_a_misplaced_final_one_back() -> None:
    history = stored(FINISHED, MEANWHILE, tool(DONE), tool(RUNNING))
    copy = normalized(*history)
    interrupted = tool(result("c1", INTERRUPTED_TEXT, state="interrupted"))

    assert said(copy.items) == said([FINISHED, interrupted, MEANWHILE])
    assert [repair.code for repair in copy.repairs] == [
        "tool_result_synthesised",
        "orphan_tool_result_dropped",
        "orphan_tool_result_dropped",
    ]


def test_a_finished_call_does_not_take_a_late_result() -> None:
    history = stored(FINISHED, MEANWHILE, tool(DONE))
    interrupted = tool(result("c1", INTERRUPTED_TEXT, state="interrupted"))

    assert said(normalized(*history).items) == said([FINISHED, interrupted, MEANWHILE])


def test_waiting_and_finished_calls_of_one_message_are_answered_each_in_its_way() -> None:
    both = assistant(call("c1", state="pending"), call("c2"), call("c3", state="submitted"))
    history = stored(
        both,
        tool(result("c2", "two")),
        MEANWHILE,
        tool(result("c2", "late"), DONE),
    )
    copy = normalized(*history)

    assert said(copy.items) == said([both, tool(DONE), history[1], tool(waiting("c3")), MEANWHILE])
    assert [(repair.code, repair.call_id) for repair in copy.repairs] == [
        ("tool_result_synthesised", "c3"),
        ("orphan_tool_result_dropped", "c2"),
    ]


def test_a_later_call_takes_the_id_of_a_waiting_one_over() -> None:
    history = stored(PENDING, MEANWHILE, FINISHED, tool(DONE))

    assert said(normalized(*history).items) == said(
        [PENDING, tool(waiting()), MEANWHILE, FINISHED, tool(DONE)]
    )


def test_a_late_result_is_named_like_its_call() -> None:
    history = stored(PENDING, MEANWHILE, tool(result("c1", "done", name=None)))

    assert said(normalized(*history).items) == said([PENDING, tool(DONE), MEANWHILE])


def test_a_late_result_depends_on_its_own_message() -> None:
    items = normalized(*stored(PENDING, MEANWHILE, tool(DONE))).items

    assert [item.depends_on for item in items] == [1, 3, 2]


@pytest.mark.parametrize(
    "history",
    [
        (PENDING, MEANWHILE),
        (PENDING, MEANWHILE, tool(DONE)),
        (PENDING, MEANWHILE, tool(RUNNING)),
        (FINISHED, tool(RUNNING), MEANWHILE, tool(DONE)),
    ],
    ids=["made", "late", "running", "late behind running"],
)
def test_normalizing_twice_changes_nothing_more(history: tuple[Item, ...]) -> None:
    once = normalized(*stored(*history))
    again = copy_of(*once.items)

    assert normalize(again, step_context()) is again
