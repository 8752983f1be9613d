import pytest

from app.compaction.errors import (
    EmptyConversation,
    MissingLastUser,
    NothingToCompact,
    StateError,
)
from app.compaction.openwork_items import CheckpointContent, framed_summary, replacement_items
from app.compaction.openwork_style import OpenWorkStyle
from app.compaction.replacement import GivenCompaction, Replaced, replace_conversation
from app.compaction.runtime_state import EMPTY_STATE, RuntimeState
from app.compaction.turn_plan import EMPTY_PLAN, TurnPlan, with_plan
from app.compaction.watermark import plan_prune
from app.core.blocks import Artifact, text_block
from app.core.facts import Form
from app.core.items import Item
from app.core.messages import Synthetic
from app.core.normalize import normalize
from app.core.request_copy import PruneBoundary, RequestCopy
from app.core.user_requests import last_user_request
from tests.requirements import requirement
from tests.unit.compaction.evidence import change, plan
from tests.unit.compaction.summaries import SUMMARY
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    form,
    image,
    result,
    said,
    step_context,
    stored,
    tool,
    user,
)

REMINDER = (
    '<system_reminder format_version="1">\n'
    "No additional durable runtime state was recorded at compaction time.\n"
    "</system_reminder>"
)
FRAMED = (
    "The earlier Conversation was compacted into the following continuation summary. Treat it as"
    " prior conversation context, preserve its uncertainty, and continue from it:\n\n" + SUMMARY
)
ONE_TURN = stored(
    user("do the task"), user("the world", kind="world_state"), assistant("the task is done")
)


def checkpoint(*content: str, summary: str = SUMMARY) -> CheckpointContent:
    return CheckpointContent(
        compaction_id="compaction-1",
        replaced_through_sequence=7,
        anchor_role="user",
        anchor=form("user", *content),
        summary=summary,
        reminder=REMINDER,
    )


def replaced(
    *items: Item,
    keep_from: int | None = None,
    base: RuntimeState = EMPTY_STATE,
    plan: TurnPlan | None = None,
) -> Replaced:
    given = GivenCompaction(
        compaction_id="compaction-1",
        keep_from=len(items) if keep_from is None else keep_from,
        phase="standalone",
        context=(),
        summary=SUMMARY,
        base=base,
        plan=plan,
    )
    return replace_conversation(items, given, OpenWorkStyle(), COUNTER)


@requirement("OW-4.1-synthetic-items")
def test_three_synthetic_items_stand_for_what_was_folded() -> None:
    items = replacement_items(checkpoint("do the task"), COUNTER)

    assert said(items) == [
        ("user", (text_block("do the task"),)),
        ("user", (text_block(FRAMED),)),
        ("user", (text_block(REMINDER),)),
    ]
    assert [item.source for item in items] == [
        Synthetic(reason="last_user_request_replay", id="compaction-1:last-user"),
        Synthetic(reason="compaction_summary", id="compaction-1:summary"),
        Synthetic(reason="system_reminder", id="compaction-1:reminder"),
    ]
    assert [(item.kind, item.depends_on) for item in items] == [("normal", 7)] * 3


def test_the_same_checkpoint_gives_equal_items() -> None:
    given = checkpoint("do the task")

    assert replacement_items(given, COUNTER) == replacement_items(given, COUNTER)


def test_the_replay_has_the_bytes_and_facts_of_the_request() -> None:
    request = user("look at this", image(name="a.png"), "and this", sequence=4)
    given = CheckpointContent(
        compaction_id="compaction-1",
        replaced_through_sequence=7,
        anchor_role=request.role,
        anchor=Form(content=request.content, facts=request.facts),
        summary=SUMMARY,
        reminder=REMINDER,
    )
    replay = replacement_items(given, COUNTER)[0]

    assert (replay.role, replay.content, replay.facts) == ("user", request.content, request.facts)


def test_B082_a_summary_is_framed_as_context_and_marked_as_made_here() -> None:
    summary = replacement_items(checkpoint("do it", summary="I did what I was told."), COUNTER)[1]

    assert said([summary]) == [
        (
            "user",
            (
                text_block(
                    "The earlier Conversation was compacted into the following continuation"
                    " summary. Treat it as prior conversation context, preserve its uncertainty,"
                    " and continue from it:\n\nI did what I was told."
                ),
            ),
        )
    ]
    assert last_user_request([summary]) is None


@pytest.mark.parametrize("space", ["\n", " \t", "\u2028"])
def test_a_summary_is_trimmed_in_its_frame(space: str) -> None:
    assert framed_summary(f"{space}{SUMMARY}{space}") == FRAMED


@requirement("OW-4.1-compacted-conversation")
def test_K16_a_whole_conversation_becomes_replay_summary_and_reminder() -> None:
    after = replaced(*ONE_TURN)

    assert said(after.items) == [
        ("user", (text_block("do the task"),)),
        ("user", (text_block(FRAMED),)),
        ("user", (text_block(REMINDER),)),
    ]
    assert after.hidden == (0, 1, 2)
    assert {item.depends_on for item in after.items} == {3}


@requirement("OW-11-summary-then-later-messages")
def test_B083_messages_behind_the_fold_stay_behind_the_summary() -> None:
    later = stored(*ONE_TURN, user("one more thing"), assistant("yes"))
    after = replaced(*later, keep_from=3)

    assert after.items[3:] == later[3:]
    assert after.hidden == (0, 1, 2)
    assert {item.depends_on for item in after.items[:3]} == {3}


def test_K5_a_second_compaction_replays_the_request_that_the_first_one_replayed() -> None:
    first = replaced(*ONE_TURN)
    second = replaced(*first.items, assistant("more", sequence=4))

    assert second.items[0].content == first.items[0].content
    assert [item.source for item in second.items] == [item.source for item in first.items]
    assert {item.depends_on for item in second.items} == {4}


def test_a_live_conversation_depends_on_nothing_stored() -> None:
    after = replaced(user("do the task"), assistant("done"))

    assert {item.depends_on for item in after.items} == {0}


def test_W6_a_watermark_outlives_the_replacement_and_has_nothing_left_to_prune() -> None:
    rounds = stored(
        user("read"),
        assistant(call("c1")),
        tool(result("c1", "x" * 9_000)),
        assistant("read it"),
    )
    after = replaced(*rounds)

    moved = step_context(boundary=PruneBoundary(through_sequence=4))

    assert plan_prune(rounds, step_context()) is not None
    assert plan_prune(after.items, moved) is None


def test_edited_paths_come_from_the_whole_conversation() -> None:
    rounds = stored(
        user("edit"),
        assistant(call("c1", "edit")),
        tool(result("c1", "ok", artifacts=(change("b.rs"),))),
        assistant(call("c2", "edit")),
        tool(result("c2", "ok", artifacts=(change("a.rs"),))),
    )
    after = replaced(*rounds, keep_from=3)

    assert said(after.items[2:3]) == [
        (
            "user",
            (
                text_block(
                    '<system_reminder format_version="1">\n'
                    "## Edited paths\n- a.rs\n- b.rs\n"
                    "</system_reminder>"
                ),
            ),
        )
    ]


@requirement("OW-9-plan-in-the-reminder")
@pytest.mark.parametrize(
    ("turn_plan", "told"),
    [
        (plan(("ship", "pending")), "## Current plan\n- [pending] ship\n"),
        (None, "## Current plan\n- [in_progress] build\n"),
        (
            EMPTY_PLAN,
            "No additional durable runtime state was recorded at compaction time.\n",
        ),
    ],
    ids=["the turn's plan", "no turn", "a turn without a plan"],
)
def test_the_reminder_tells_the_plan(turn_plan: TurnPlan | None, told: str) -> None:
    base = with_plan(EMPTY_STATE, plan(("build", "in_progress")))
    reminder = replaced(*ONE_TURN, base=base, plan=turn_plan).items[2]

    assert said([reminder]) == [
        (
            "user",
            (text_block(f'<system_reminder format_version="1">\n{told}</system_reminder>'),),
        )
    ]


def test_B001_a_result_whose_call_was_folded_leaves_the_request() -> None:
    rounds = stored(
        user("go"),
        assistant(call("c1")),
        tool(result("c1", "one")),
        assistant(call("c2")),
        tool(result("c2", "two")),
    )
    after = replaced(*rounds, keep_from=4)
    request = normalize(RequestCopy(items=after.items), step_context(is_partial=True))

    assert request.items == after.items[:3]
    assert [repair.code for repair in request.repairs] == ["result_of_summarised_call"]


def test_B067_a_long_tool_loop_keeps_its_request_and_gets_a_real_summary() -> None:
    loop = [
        item
        for number in range(30)
        for item in (assistant(call(f"c{number}")), tool(result(f"c{number}", "x" * 4_000)))
    ]
    after = replaced(*stored(user("find the bug"), *loop))

    assert said(after.items) == [
        ("user", (text_block("find the bug"),)),
        ("user", (text_block(FRAMED),)),
        ("user", (text_block(REMINDER),)),
    ]
    assert after.hidden == tuple(range(61))


def test_an_empty_conversation_is_refused() -> None:
    with pytest.raises(EmptyConversation):
        replaced()


def test_B062_a_fold_of_nothing_is_an_error_and_no_success() -> None:
    with pytest.raises(NothingToCompact, match=r"^no message of the conversation may be folded$"):
        replaced(*ONE_TURN, keep_from=0)


@pytest.mark.parametrize(
    ("items", "keep_from"),
    [
        pytest.param(stored(user("w", kind="world_state")), 1, id="B053"),
        pytest.param(stored(assistant("hello"), user("do it")), 1, id="the request is kept"),
    ],
)
def test_a_fold_without_a_request_is_refused(items: tuple[Item, ...], keep_from: int) -> None:
    with pytest.raises(MissingLastUser):
        replaced(*items, keep_from=keep_from)


def test_an_undecodable_artifact_refuses_the_replacement() -> None:
    broken = Artifact(kind="file_change", payload={})
    items = stored(
        user("edit"), assistant(call("c1")), tool(result("c1", "ok", artifacts=(broken,)))
    )

    with pytest.raises(StateError):
        replaced(*items)


def test_equal_conversations_give_equal_replacements() -> None:
    assert replaced(*ONE_TURN) == replaced(*ONE_TURN)
