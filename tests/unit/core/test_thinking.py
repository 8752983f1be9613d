import pytest

from app.core.blocks import Block, ProviderState, Text, Thinking, ToolCall
from app.core.engine import request_copy
from app.core.items import Item
from app.core.request_copy import Memo, PruneBoundary, PruneCounts, RequestCopy
from app.core.thinking import drop_emptied, drop_thinking
from app.policies.shaping import Shaping
from tests.unit.core.builders import (
    as_blocks,
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

SIGNED = ProviderState(driver="d", model="m", data="signature")
SHAPING = Shaping(drop_old_thinking="behind_watermark")


def thought(text: str = "hm", state: ProviderState | None = SIGNED) -> Thinking:
    return Thinking(type="thinking", thinking=text, provider_state=state)


def signed_call(id: str) -> ToolCall:
    return ToolCall(type="tool_call", id=id, name="read", input="{}", provider_state=SIGNED)


TURN = (
    user("read"),
    assistant(thought(), signed_call("c1")),
    tool(result("c1", "text")),
    assistant(thought(), Text(type="text", text="done", provider_state=SIGNED)),
)
TURNS = stored(*TURN, *TURN, user("thanks"), assistant(thought(), "welcome"))


def dropped(*items: Item, through: int = 99, memo: Memo | None = None) -> RequestCopy:
    boundary = PruneBoundary(through_sequence=through)
    return drop_thinking(
        copy_of(*items), step_context(boundary=boundary, shaping=SHAPING, memo=memo)
    )


def thinking_at(copy: RequestCopy) -> list[int]:
    """Sequences of the messages that hold thinking."""
    return [
        sequence
        for sequence, (_, blocks) in enumerate(said(copy.items), start=1)
        if any(isinstance(block, Thinking) for block in blocks)
    ]


@pytest.mark.parametrize(
    ("through", "left"),
    [
        pytest.param(4, [2, 4, 6, 8, 10], id="no request ended the loop"),
        pytest.param(5, [6, 8, 10], id="a request ended the first"),
        pytest.param(6, [6, 8, 10], id="inside the second"),
        pytest.param(8, [6, 8, 10], id="the second is not ended"),
        pytest.param(9, [10], id="a request ended the second"),
        pytest.param(10, [10], id="the last loop stays"),
    ],
)
def test_thinking_goes_with_its_whole_loop_once_a_request_ended_it(
    through: int, left: list[int]
) -> None:
    copy = dropped(*TURNS, through=through)

    assert thinking_at(copy) == left
    assert copy.pruned == PruneCounts(thinking=5 - len(left))


def test_the_state_of_a_loop_goes_with_its_thinking() -> None:
    first = dropped(*TURNS, through=5).items[1:4:2]

    assert said(first) == [
        ("assistant", (call("c1"),)),
        ("assistant", as_blocks(["done"])),
    ]


def test_the_state_of_a_loop_without_thinking_stays() -> None:
    items = stored(
        user("read"), assistant(signed_call("c1")), tool(result("c1", "text")), user("thanks")
    )

    assert dropped(*items).items == items


def test_messages_that_are_no_request_end_no_loop() -> None:
    items = stored(
        user("read"),
        assistant(thought(), call("c1")),
        tool(result("c1", "text")),
        user("a note", kind="skill_instruction"),
        assistant(thought(), "done"),
    )

    assert dropped(*items).items == items
    assert thinking_at(dropped(*items, *stored(*items, user("and?"))[5:])) == []


WAITING = (
    user("start"),
    assistant(thought(), call("c1", state="pending")),
    assistant(thought(), "it runs"),
    user("go on"),
    assistant("well"),
)


def test_a_loop_with_a_waiting_call_keeps_its_thinking_until_the_result_is_behind_too() -> None:
    items = stored(*WAITING, tool(result("c1", "done")))

    assert thinking_at(dropped(*items, through=5)) == [2, 3]
    assert thinking_at(dropped(*items, through=6)) == []


def test_a_result_that_still_runs_keeps_the_loop_open() -> None:
    running = tool(result("c1", "…", state="running"))
    items = stored(user("start"), assistant(thought(), call("c1")), running, user("go on"))
    late = (*items, *stored(*items, tool(result("c1", "done")))[4:])

    assert thinking_at(dropped(*items)) == [2]
    assert thinking_at(dropped(*late, through=4)) == [2]
    assert thinking_at(dropped(*late, through=5)) == []


def test_a_result_stored_later_never_opens_a_loop_again() -> None:
    items = stored(user("start"), assistant(thought(), call("c1")), user("go on"))
    late = (*items, *stored(*items, tool(result("c1", "…", state="running")))[3:])

    assert thinking_at(dropped(*items, through=3)) == []
    assert thinking_at(dropped(*late, through=3)) == []


ONLY_THOUGHT = (user("hm?"), assistant(thought()), user("and?"), assistant("so"))


def test_a_message_of_nothing_but_thinking_is_left_out_whole() -> None:
    context = step_context(boundary=PruneBoundary(through_sequence=4), shaping=SHAPING)
    copy = request_copy(stored(*ONLY_THOUGHT), context)

    assert [role for role, _ in said(copy.items)] == ["user", "user", "assistant"]
    assert copy.pruned == PruneCounts(thinking=1)


def test_leaving_a_message_out_joins_no_call_with_a_result_of_later() -> None:
    items = stored(
        user("start"),
        assistant(call("c1")),
        assistant(thought()),
        tool(result("c1", "x")),
        user("and?"),
        assistant("so"),
    )
    context = step_context(boundary=PruneBoundary(through_sequence=6), shaping=SHAPING)
    copy = request_copy(items, context)

    assert [role for role, _ in said(copy.items)] == [
        "user",
        "assistant",
        "tool",
        "user",
        "assistant",
    ]
    assert [repair.code for repair in copy.repairs] == [
        "tool_result_synthesised",
        "orphan_tool_result_dropped",
    ]
    assert [repair.item_index for repair in copy.repairs] == [1, 3]


def test_an_empty_message_above_the_boundary_stays() -> None:
    items = stored(user("a"), assistant(), user("b"), assistant())
    context = step_context(boundary=PruneBoundary(through_sequence=3), shaping=SHAPING)

    assert drop_emptied(copy_of(*items), context).items == (items[0], items[2], items[3])


@pytest.mark.parametrize("step", [drop_thinking, drop_emptied])
def test_nothing_is_dropped_unless_it_is_asked_for(step: object) -> None:
    assert callable(step)
    copy = copy_of(*TURNS, *stored(*TURNS, assistant())[10:])
    behind = PruneBoundary(through_sequence=99)

    assert step(copy, step_context(boundary=behind)) is copy
    assert step(copy, step_context(shaping=SHAPING)) is copy


def test_words_about_thinking_are_no_thinking() -> None:
    block: Block = Text(type="text", text='{"type":"thinking"}', provider_state=SIGNED)
    items = stored(user("a"), assistant(block), user("b"))

    assert dropped(*items).items == items


def test_a_message_is_rewritten_once() -> None:
    memo: Memo = {}
    first, again = dropped(*TURNS, memo=memo), dropped(*TURNS, memo=memo)

    # The two turns say the same, so their messages share what they become.
    assert len(memo) == 2
    assert again.items[1].content is first.items[1].content
