from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.core.blocks import text_block
from app.core.engine import prepare
from app.core.items import Item, message_id
from app.core.mending import mend
from app.core.messages import Synthetic
from app.core.request_copy import RequestCopy, StepContext
from app.policies.presets import policy_from
from app.policies.shaping import Shaping
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    prepare_input,
    request_json,
    result,
    said,
    step_context,
    stored,
    tool,
    user,
)

FIX = step_context(shaping=Shaping(pairing="fix"))
CLEAN = step_context(shaping=Shaping(pairing="clean"))


def told(copy: RequestCopy) -> list[tuple[str, int, str | None]]:
    return [(repair.code, repair.item_index, repair.call_id) for repair in copy.repairs]


def mended(context: StepContext, *items: Item) -> RequestCopy:
    return mend(copy_of(*stored(*items)), context)


def test_by_default_nothing_is_mended() -> None:
    copy = copy_of(*stored(assistant("a"), user("b"), user("c")))

    assert mend(copy, step_context()) is copy


@pytest.mark.parametrize("context", [FIX, CLEAN])
def test_what_is_whole_stays_the_same_copy(context: StepContext) -> None:
    copy = copy_of(*stored(user("q"), assistant(call("c1")), tool(result("c1", "x")), user("t")))

    assert mend(copy, context) is copy


def test_a_call_without_a_result_and_a_result_without_a_call_go() -> None:
    copy = mended(CLEAN, user("q"), assistant("hi", call("c1")), user("u"), tool(result("c1", "x")))

    assert said(copy.items) == [
        ("user", (text_block("q"),)),
        ("assistant", (text_block("hi"),)),
        ("user", (text_block("u"),)),
    ]
    assert told(copy) == [
        ("tool_call_dropped", 1, "c1"),
        ("orphan_tool_result_dropped", 3, "c1"),
    ]


@pytest.mark.parametrize("context", [FIX, CLEAN])
def test_a_call_that_waits_is_left_to_be_answered_for(context: StepContext) -> None:
    waiting = (
        user("q"),
        assistant(call("c1", state="pending"), call("c2")),
        tool(result("c2", "x")),
    )
    late = (*waiting, user("u"), tool(result("c1", "late")), user("v"))

    assert mended(context, *waiting, user("u")).repairs == ()
    kept = mended(context, *late)
    assert [item.facts.results[0].id for item in kept.items if item.facts.results] == ["c2", "c1"]


def test_merged_messages_are_what_their_last_request_is() -> None:
    copy = mended(
        FIX, user("env", kind="world_state"), user("a"), user("b"), assistant("c"), user("d")
    )
    first = copy.items[0]

    assert said(copy.items)[0] == ("user", tuple(map(text_block, ("env", "a", "b"))))
    assert (first.kind, message_id(first), first.depends_on) == ("normal", "m3", 3)
    assert told(copy) == [("messages_merged", 1, None), ("messages_merged", 2, None)]


def test_every_change_of_fixing_is_a_repair_where_the_message_was() -> None:
    copy = mended(FIX, assistant("lead"), user("q"), assistant("a", " b  "), user(""), user("x"))

    assert told(copy) == [
        ("message_dropped", 0, None),
        ("message_fixed", 2, None),
        ("message_dropped", 3, None),
    ]


def test_a_conversation_of_which_nothing_is_left_gets_a_placeholder() -> None:
    copy = mended(FIX, assistant("only"))

    assert said(copy.items) == [("user", (text_block("Hello"),))]
    assert copy.items[0].source == Synthetic(reason="placeholder", id="placeholder")
    assert told(copy) == [("message_dropped", 0, None), ("placeholder_added", 0, None)]


def test_an_empty_conversation_stays_empty() -> None:
    assert mended(FIX).items == ()


@pytest.mark.parametrize("context", [FIX, CLEAN])
def test_a_second_mending_changes_nothing(context: StepContext) -> None:
    items: Sequence[Item] = (
        *(assistant("l"), user("a"), user(""), assistant("x ", "y ", call("c1")), user("u")),
        *(
            tool(result("c1", "z")),
            assistant(call("c2")),
            tool(result("c2"), result("c2")),
            user("e"),
        ),
    )
    once = mended(context, *items)

    assert mend(once, context) is once


def test_positions_of_repairs_are_those_of_the_conversation() -> None:
    policy = policy_from({"preset": "openwork", "context_policy": {"keep_last": 2}})
    items = stored(user("a"), user("b"), assistant(call("c1")), user("c"))
    made = prepare(prepare_input(*items, policy=policy))

    assert [(repair.code, repair.item_index) for repair in made.repairs] == [
        ("tool_result_synthesised", 2)
    ]
    assert [message["role"] for message in request_json(made)["messages"]] == [
        *("system", "assistant", "tool", "user")
    ]


@pytest.mark.parametrize("context", [FIX, CLEAN])
def test_a_result_in_front_of_a_call_that_waits_is_not_its_own(context: StepContext) -> None:
    early = (user("q"), tool(result("c1", "x")), assistant("a", call("c1", state="pending")))
    copy = mended(context, *early, user("u"))

    assert ("orphan_tool_result_dropped", 1, "c1") in told(copy)
    assert not any(item.facts.results for item in copy.items)


def test_fixing_leaves_a_pinned_round_at_an_end_of_the_conversation() -> None:
    policy = {"preset": "goose", "context_policy": {"keep_last": 2, "pinned": ["m3"]}}
    items = stored(
        user("a"), assistant(call("c1")), tool(result("c1", "x")), user("b"), assistant("c")
    )
    made = prepare(prepare_input(*items, policy=policy_from(policy)))

    assert [message["role"] for message in request_json(made)["messages"]] == [
        *("system", "assistant", "tool", "user")
    ]


def test_fixing_leaves_a_call_that_waits_at_an_end_of_the_conversation() -> None:
    waiting = assistant("text", call("c1", state="pending"))

    assert mended(FIX, user("q"), waiting).repairs == ()
    assert mended(FIX, waiting, user("q")).repairs == ()


def test_fixing_leaves_the_fold_of_a_provider_in_front() -> None:
    fold = replace(
        assistant("fold"), source=Synthetic(reason="provider_fold", id="compaction-1:provider")
    )
    copy = mend(copy_of(fold, *stored(user("q"))), FIX)

    assert copy.repairs == ()
    assert copy.items[0].source == fold.source
