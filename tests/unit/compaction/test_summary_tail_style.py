import pytest

from app.compaction.artifact import COMPACTOR_INSTRUCTIONS, SUMMARY_TASK
from app.compaction.errors import NothingToCompact
from app.compaction.fold import NOBODY_GONE
from app.compaction.style import Folded, Style
from app.compaction.summary_check import SummaryAccepted, SummaryRejected
from app.compaction.summary_tail_style import SummaryTailStyle
from app.core.messages import Synthetic
from tests.unit.compaction.summary_inputs import blocks_of, body_of, roles_of, summary_input
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    result,
    said,
    stored,
    tool,
    user,
)

STYLE: Style = SummaryTailStyle(keep_last=2)
TALK = stored(user("go"), assistant(call("c1")), tool(result("c1", "ok")), assistant("a"))


def texts(style: SummaryTailStyle, asked: str = "conversation") -> list[str]:
    request = style.request(summary_input(*TALK, keep_from=1, style=asked))  # type: ignore[arg-type]
    return [block["text"] for block in blocks_of(request) if block["type"] == "text"]


def test_the_compactor_is_told_its_own_rules_and_the_task() -> None:
    request = SummaryTailStyle().request(summary_input(*TALK, keep_from=3))

    assert roles_of(request) == ["system", "user", "assistant", "tool", "user"]
    assert body_of(request)["tools"] == []
    assert texts(SummaryTailStyle()) == [COMPACTOR_INSTRUCTIONS, "go", SUMMARY_TASK]


def test_both_texts_can_be_replaced() -> None:
    style = SummaryTailStyle(instructions="Keep paths.", agent_instructions="Be brief.")

    assert texts(style) == ["Be brief.", "go", "Keep paths."]


@pytest.mark.parametrize("asked", ["cached", "flat"])
def test_without_a_system_message_of_its_own_the_rules_stand_in_the_task(asked: str) -> None:
    assert texts(SummaryTailStyle(), asked)[-1] == f"{COMPACTOR_INSTRUCTIONS}\n\n{SUMMARY_TASK}"


def test_a_fold_leaves_the_tail_with_its_rounds_unless_it_cuts_by_number() -> None:
    items = stored(user("0"), user("1"), *TALK[1:])
    strict = SummaryTailStyle(keep_last=2, cut="strict")

    assert STYLE.fold(items, "mid_turn", NOBODY_GONE).keep_from == 2
    assert strict.fold(items, "mid_turn", NOBODY_GONE).keep_from == 3


def test_a_tail_of_all_is_refused() -> None:
    with pytest.raises(NothingToCompact):
        SummaryTailStyle(keep_last=4).fold(TALK, "standalone", NOBODY_GONE)


def test_any_text_that_is_not_blank_is_the_summary() -> None:
    assert STYLE.check(" Half", "length", 1) == SummaryAccepted(summary=" Half")
    assert STYLE.check(" \n\t", "stop", 0) == SummaryRejected(reason="the response had no text")


def test_the_summary_alone_stands_for_the_fold() -> None:
    (item,) = STYLE.replacement(
        Folded(
            compaction_id="compaction-1",
            items=TALK,
            replaced_through_sequence=4,
            phase="mid_turn",
            summary="It is done. ",
            reminder=None,
            context=(),
            counter=COUNTER,
        )
    )

    assert said([item]) == said([user("Summary of earlier conversation: It is done. ")])
    assert item.source == Synthetic(reason="compaction_summary", id="compaction-1:summary")
    assert item.depends_on == 4
