"""Codex's style: what it folds in which phase, what it takes for a summary, what stays."""

from dataclasses import asdict
from typing import get_args

import pytest

from app.compaction.codex_style import CodexStyle
from app.compaction.errors import EmptyConversation, NothingToCompact
from app.compaction.fold import NOBODY_GONE, FoldPlan
from app.compaction.record import CompactionPhase
from app.compaction.replacement import GivenCompaction, Replaced, replace_conversation
from app.compaction.runtime_state import EMPTY_STATE
from app.compaction.style import Folded
from app.compaction.styles import STYLES
from app.compaction.summary_check import SummaryAccepted, SummaryRejected
from app.compaction.user_messages import SUMMARY_PREFIX
from app.core.blocks import Text
from app.core.items import Item
from app.core.messages import Synthetic
from app.policies.folding import CodexFolding, OpenWorkFolding, StyleName
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    image,
    result,
    said,
    stored,
    synthetic,
    tool,
    user,
)

STYLE = CodexStyle()
SUMMARY = synthetic("user", "compaction_summary", f"{SUMMARY_PREFIX}\nwhat happened")
WORLD = user("<sandbox_policy>", kind="world_state")
ROUND = (assistant(call("c1")), tool(result("c1")))
WAITING = assistant(call("w", "confirm", state="pending"))


def fold(phase: CompactionPhase, *items: Item) -> FoldPlan:
    return STYLE.fold(items, phase, NOBODY_GONE)


def replacement(
    *items: Item,
    phase: CompactionPhase = "standalone",
    context: tuple[Item, ...] = (),
    style: CodexStyle = STYLE,
) -> tuple[Item, ...]:
    return style.replacement(
        Folded(
            compaction_id="compaction-1",
            items=items,
            replaced_through_sequence=9,
            phase=phase,
            summary="It is done.",
            reminder=None,
            context=context,
            counter=COUNTER,
        )
    )


def told(items: tuple[Item, ...]) -> list[str]:
    """The texts of the items, one for each."""
    return [
        "".join(block.text for block in blocks if isinstance(block, Text))
        for _, blocks in said(items)
    ]


@pytest.mark.parametrize(
    ("items", "keep_from"),
    [
        pytest.param((user("one"), assistant("a"), user("two")), 2, id="the message of the turn"),
        pytest.param((user("one"), assistant("a"), user("two"), WORLD), 2, id="and its world"),
        pytest.param((user("one"), *ROUND, user("two"), user("three")), 3, id="two messages"),
        pytest.param((user("one"), *ROUND), 3, id="nothing behind the results"),
        pytest.param((user("one"), WAITING, user("two")), 1, id="a waiting call"),
        pytest.param((assistant("hello"), user("one")), 1, id="no user message in the fold"),
        pytest.param(
            (user("1"), assistant("a"), user("2", kind="agent_message"), user("3")), 2, id="agent"
        ),
    ],
)
def test_before_a_turn_what_the_model_answered_is_folded(
    items: tuple[Item, ...], keep_from: int
) -> None:
    assert fold("pre_turn", *stored(*items)).keep_from == keep_from


@pytest.mark.parametrize("phase", ["mid_turn", "standalone"])
@pytest.mark.parametrize(
    ("items", "keep_from"),
    [
        ((user("one"), assistant("a"), user("two")), 3),
        ((user("one"), *ROUND, WORLD), 4),
        ((user("one"), WAITING, user("two")), 1),
        ((assistant("alone"),), 1),
    ],
)
def test_in_a_turn_and_by_hand_all_that_does_not_wait_is_folded(
    items: tuple[Item, ...], keep_from: int, phase: CompactionPhase
) -> None:
    assert fold(phase, *stored(*items)).keep_from == keep_from


def test_a_result_that_came_late_keeps_its_call_in_front_of_the_turn() -> None:
    late = tool(result("w", "yes"))
    items = stored(user("one"), *ROUND, WAITING, user("two"), late)

    assert fold("pre_turn", *items).keep_from == 3
    assert fold("mid_turn", *items).keep_from == 6


def test_a_fold_without_a_user_message_has_no_anchor() -> None:
    items = stored(assistant("alone"), *ROUND)

    assert fold("standalone", *items) == FoldPlan(
        keep_from=3, anchor_index=None, through_sequence=3
    )


@pytest.mark.parametrize("phase", get_args(CompactionPhase))
def test_an_empty_conversation_is_refused(phase: CompactionPhase) -> None:
    with pytest.raises(EmptyConversation):
        fold(phase)


@pytest.mark.parametrize(
    ("phase", "items"),
    [
        ("pre_turn", (user("one"),)),
        ("pre_turn", (user("one"), SUMMARY, user("two"))),
        ("mid_turn", (user("one"), SUMMARY)),
        ("standalone", (user("one"), SUMMARY, WORLD)),
        ("standalone", (WAITING,)),
    ],
    ids=["no answer", "no answer since", "nothing new", "only world state", "it waits"],
)
def test_a_fold_of_nothing_new_is_refused(phase: CompactionPhase, items: tuple[Item, ...]) -> None:
    with pytest.raises(NothingToCompact):
        fold(phase, *items)


@pytest.mark.parametrize("text", ["", " \n\t", "\u2028\u00a0"])
def test_a_blank_answer_is_no_summary(text: str) -> None:
    assert STYLE.check(text, "stop", 0) == SummaryRejected(reason="the response had no text")


@pytest.mark.parametrize(
    ("text", "finish_reason", "tool_calls"),
    [(" Done.\n", "stop", 0), ("Half of it", "length", 0), ("Done.", None, 3), (".", "error", 1)],
)
def test_any_other_answer_is_the_summary_as_it_is(
    text: str, finish_reason: str | None, tool_calls: int
) -> None:
    assert STYLE.check(text, finish_reason, tool_calls) == SummaryAccepted(summary=text)


def test_user_messages_and_the_summary_stand_for_the_fold() -> None:
    items = stored(user("one"), *ROUND, user("two"), WORLD, assistant("done"))
    standing = replacement(*items)

    assert standing[:2] == (items[0], items[3])
    assert told(standing[2:]) == [f"{SUMMARY_PREFIX}\nIt is done."]
    assert standing[2].source == Synthetic(reason="compaction_summary", id="compaction-1:summary")
    assert standing[2].depends_on == 9


def test_without_a_user_message_the_summary_stands_alone() -> None:
    assert len(replacement(*stored(assistant("alone")))) == 1


def test_a_message_that_is_not_shown_whole_is_made_anew() -> None:
    items = stored(
        user("left out"), user("c" * 100), user("look", image()), user("one ", "text"), user("d")
    )
    standing = replacement(*items, style=CodexStyle(kept_user_message_tokens=10))

    assert [item.source for item in standing[:-1]] == [
        Synthetic(reason="last_user_request_replay", id="compaction-1:user-1"),
        Synthetic(reason="last_user_request_replay", id="compaction-1:user-2"),
        Synthetic(reason="last_user_request_replay", id="compaction-1:user-3"),
        items[4].source,
    ]
    assert told(standing[1:-1]) == ["look", "one text", "d"]
    assert told(standing[:1]) == [f"{'c' * 12}…19 tokens truncated…{'c' * 12}"]


def test_nothing_is_kept_where_the_policy_leaves_no_room() -> None:
    standing = replacement(user("one"), style=CodexStyle(kept_user_message_tokens=0))

    assert len(standing) == 1


def test_a_second_compaction_keeps_the_messages_and_only_the_new_summary() -> None:
    first = replacement(*stored(user("one"), assistant("a")))
    second = replacement(*first, user("two", sequence=3), assistant("b", sequence=4))

    assert told(second) == ["one", "two", f"{SUMMARY_PREFIX}\nIt is done."]


def test_a_message_made_anew_is_kept_by_the_next_compaction() -> None:
    first = replacement(*stored(user("look", image()), assistant("a")))
    second = replacement(*first, user("two", sequence=3), assistant("b", sequence=4))

    assert told(second)[:2] == ["look", "two"]
    assert second[0].source == Synthetic(
        reason="last_user_request_replay", id="compaction-1:user-1"
    )


@requirement("CX-8-mid-turn-layout")
def test_in_a_turn_the_context_stands_before_the_last_user_message() -> None:
    items = stored(user("one"), WORLD, user("two"), *ROUND)
    standing = replacement(*items, phase="mid_turn", context=(items[1],))

    assert standing[:3] == (items[0], items[1], items[2])
    assert told(standing[3:]) == [f"{SUMMARY_PREFIX}\nIt is done."]


@pytest.mark.parametrize("phase", ["pre_turn", "standalone"])
def test_outside_of_a_turn_the_context_is_left_out(phase: CompactionPhase) -> None:
    items = stored(user("one"), WORLD, *ROUND)

    assert replacement(*items, phase=phase, context=(items[1],))[:1] == (items[0],)
    assert len(replacement(*items, phase=phase, context=(items[1],))) == 2


def replaced(*items: Item, phase: CompactionPhase) -> Replaced:
    given = GivenCompaction(
        compaction_id="compaction-1",
        keep_from=fold(phase, *items).keep_from,
        phase=phase,
        context=tuple(item for item in items if item.kind == "world_state"),
        summary="It is done.",
        base=EMPTY_STATE,
        plan=None,
    )
    return replace_conversation(items, given, STYLE, COUNTER)


def test_messages_that_are_shown_again_are_not_hidden() -> None:
    items = stored(user("one"), WORLD, user("two"), *ROUND)

    assert replaced(*items, phase="mid_turn").hidden == (3, 4)
    assert replaced(*items, phase="standalone").hidden == (1, 3, 4)


def test_the_message_of_the_turn_stands_behind_the_summary() -> None:
    items = stored(user("one"), assistant("a"), user("two"), WORLD)
    after = replaced(*items, phase="pre_turn")

    assert told(after.items) == [
        "one",
        f"{SUMMARY_PREFIX}\nIt is done.",
        "two",
        "<sandbox_policy>",
    ]
    assert after.hidden == (1,)
    assert said(after.items[:1]) == said(items[:1])


@pytest.mark.parametrize("folding", [OpenWorkFolding(), CodexFolding()])
def test_every_folding_has_a_style_with_the_same_values(
    folding: OpenWorkFolding | CodexFolding,
) -> None:
    style = STYLES[folding.style]

    assert style(**asdict(folding)) == style()


def test_every_style_has_a_name_that_policies_know() -> None:
    assert set(STYLES) == set(get_args(StyleName))
