import pytest

from app.compaction.errors import EmptyConversation, NothingToCompact
from app.compaction.fold import NOBODY_GONE
from app.compaction.hidden_history import CONTINUATIONS
from app.compaction.hidden_history_style import HiddenHistoryStyle
from app.compaction.record import CompactionPhase
from app.compaction.structured_prompt import SUMMARISE, prompt_behind, structured_prompt
from app.compaction.style import Folded, Style
from app.compaction.summary_check import SummaryAccepted, SummaryRejected
from app.core.blocks import Text, text_block
from app.core.items import Item
from app.core.messages import Synthetic
from tests.unit.compaction.summary_inputs import (
    UNKNOWN_WINDOW,
    blocks_of,
    body_of,
    roles_of,
    summary_input,
    window,
)
from tests.unit.core.builders import COUNTER, assistant, call, result, said, stored, tool, user

STYLE: Style = HiddenHistoryStyle()


def rounds(count: int) -> tuple[Item, ...]:
    """A request and so many calls with their results, which are marked."""
    items = [user("go")]
    for number in range(count):
        items += [assistant(call(f"c{number}")), tool(result(f"c{number}", f"<r{number}>"))]
    return stored(*items)


def prompt_of(*items: Item, **more: object) -> str:
    request = STYLE.request(summary_input(*items, **more))  # type: ignore[arg-type]
    return str(next(blocks_of(request))["text"])


def replaced(
    *items: Item, phase: CompactionPhase = "mid_turn", context: tuple[Item, ...] = ()
) -> tuple[Item, ...]:
    return STYLE.replacement(
        Folded(
            compaction_id="k1",
            items=items,
            replaced_through_sequence=9,
            phase=phase,
            summary="S",
            reminder=None,
            context=context,
            counter=COUNTER,
        )
    )


def test_everything_is_folded_up_to_a_call_that_waits() -> None:
    items = stored(user("go"), assistant(call("c1", state="pending")), user("more"))

    assert STYLE.fold(rounds(2), "pre_turn", NOBODY_GONE).keep_from == 5
    assert STYLE.fold(items, "mid_turn", NOBODY_GONE).keep_from == 1
    assert STYLE.fold(items, "mid_turn", {"m2"}).keep_from == 3


def test_a_fold_of_nothing_is_refused() -> None:
    with pytest.raises(EmptyConversation):
        STYLE.fold((), "standalone", NOBODY_GONE)
    with pytest.raises(NothingToCompact):
        STYLE.fold(stored(assistant(call("c1", state="pending"))), "standalone", NOBODY_GONE)


def test_the_prompt_holds_the_conversation_and_one_message_asks() -> None:
    items = rounds(1)
    request = STYLE.request(summary_input(*items))

    assert roles_of(request) == ["system", "user"]
    assert prompt_of(*items) == structured_prompt(items)
    assert [block["text"] for block in blocks_of(request)][1] == SUMMARISE
    assert body_of(request)["tools"] == []
    assert (request.level, request.problem, request.removed_call_ids) == (0, None, ())


def test_a_request_that_cannot_fit_is_sent_all_the_same() -> None:
    items = stored(user("x" * 100_000))

    assert STYLE.request(summary_input(*items, profile=window(1_000, 10))).problem is None


@pytest.mark.parametrize(
    ("level", "gone"),
    [
        (1, ("c4",)),
        (2, ("c4", "c5")),
        (3, ("c4", "c5", "c3", "c6", "c2")),
        (4, ("c4", "c5", "c3", "c6", "c2", "c7", "c1", "c8", "c0", "c9")),
    ],
)
def test_each_level_leaves_out_more_results_from_the_middle(
    level: int, gone: tuple[str, ...]
) -> None:
    items = rounds(10)
    request = STYLE.request(summary_input(*items, min_level=level))
    prompt = prompt_of(*items, min_level=level)

    assert (request.level, request.removed_call_ids, request.problem) == (level, gone, None)
    assert [number for number in range(10) if f"<r{number}>" not in prompt] == sorted(
        int(name[1:]) for name in gone
    )
    assert prompt.count("tool_request(read)") == 10


def test_there_is_no_level_behind_the_last_one() -> None:
    assert STYLE.request(summary_input(*rounds(2), min_level=5)).problem == "cannot_fit"
    assert STYLE.request(summary_input(*rounds(2), min_level=4)).problem is None


def test_L11_without_results_the_first_overflow_is_the_last_one() -> None:
    legacy = HiddenHistoryStyle(middle_out_order="legacy")

    assert STYLE.request(summary_input(*rounds(0), min_level=1)).problem == "cannot_fit"
    assert legacy.request(summary_input(*rounds(0), min_level=1)).problem is None


def test_the_conversation_is_told_without_workspace_context_and_what_is_for_people() -> None:
    secret = Text(type="text", text="for people", audience=("user",))
    items = stored(user("cwd: /tmp", kind="world_state"), user("go", secret))

    assert prompt_of(*items) == structured_prompt(stored(user("go")))


def test_the_focus_of_a_caller_stands_in_the_prompt() -> None:
    assert "keep the paths" in prompt_of(*rounds(1), instructions="keep the paths")


def test_a_cached_request_is_the_sessions_own_with_the_prompt_behind_it() -> None:
    request = STYLE.request(summary_input(*rounds(1), style="cached", profile=UNKNOWN_WINDOW))
    small = summary_input(*rounds(1), style="cached", profile=window(40, 10))

    assert roles_of(request) == ["system", "user", "assistant", "tool", "user"]
    assert list(blocks_of(request))[-1]["text"] == prompt_behind(None)
    assert request.style == "cached"
    assert STYLE.request(small).style == "flat"


def test_a_structured_answer_is_kept_by_the_template_and_any_other_as_it_is() -> None:
    titled = HiddenHistoryStyle(summary_template="Goal: {{user_intent}}")
    answer = '```json\n{"user_intent": ["Fix it"]}\n```'

    assert STYLE.check(answer, None, 0) == SummaryAccepted(
        summary="# Conversation Summary\n\n## User Intent\n- Fix it"
    )
    assert titled.check(answer, None, 0) == SummaryAccepted(summary="Goal: - Fix it")
    assert STYLE.check("just prose", "length", 3) == SummaryAccepted(summary="just prose")
    assert isinstance(STYLE.check(" \n", None, 0), SummaryRejected)


@pytest.mark.parametrize(
    ("items", "phase", "case", "copied"),
    [
        ((user("a"), assistant("b"), user("c")), "pre_turn", "conversation", ["c"]),
        ((user("a"), assistant(call("c1")), tool(result("c1"))), "mid_turn", "tool_loop", ["a"]),
        ((user("a"), assistant("b")), "standalone", "by_hand", []),
        ((assistant("b"),), "mid_turn", "tool_loop", []),
    ],
)
def test_summary_continuation_and_the_request_take_the_folds_place(
    items: tuple[Item, ...], phase: CompactionPhase, case: str, copied: list[str]
) -> None:
    made = replaced(*stored(*items), phase=phase)

    assert said(made) == [
        ("user", (text_block("S"),)),
        ("assistant", (text_block(CONTINUATIONS[case]),)),  # type: ignore[index]
        *[("user", (text_block(text),)) for text in copied],
    ]
    assert {item.depends_on for item in made} == {9}
    assert [item.source.id for item in made if isinstance(item.source, Synthetic)] == [
        f"k1:{suffix}" for suffix in ("summary", "continuation", "user")[: len(made)]
    ]


def test_workspace_context_behind_the_request_stays_as_it_is() -> None:
    items = stored(user("q"), user("cwd: /a", kind="world_state"), user("x", kind="world_state"))

    assert replaced(*items)[-1] is items[-1]
    assert len(replaced(*items, phase="standalone")) == 2
