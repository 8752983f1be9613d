from dataclasses import replace

from app.core.limits import AppendedMessage, Decision
from app.policies.continuation import CONTINUATION_TEXT, Answer
from app.policies.cut_answer import CutAnswer, after_cut

DECISION = Decision(
    action="compact",
    reason="token_limit_reached",
    input_tokens=90,
    measured_tokens=90,
    line_tokens=80,
    remaining_tokens=0,
    detail="at the line",
    phase="mid_turn",
    roll_over=True,
)
TEXT = Answer(was_cut_off=True, has_tool_calls=False, has_text=True, has_reasoning=False)
CUT = CutAnswer(answer=TEXT, retries=1, max_retries=2)


def test_a_continued_step_goes_before_what_the_next_call_will_be_told() -> None:
    decision = after_cut(DECISION, CUT, "t-continuation-1-1", "t")

    assert CUT.is_continued
    assert decision == replace(
        DECISION,
        action="continue",
        reason="output_cut_off",
        detail="the answer was cut off by its output limit: continuation 2 of 2 of its step;"
        " after an error no other model may take the step over",
        append=AppendedMessage(id="t-continuation-1-1", turn_id="t", text=CONTINUATION_TEXT),
    )


def test_a_spent_budget_ends_the_run_and_nothing_rolls_over() -> None:
    spent = replace(CUT, retries=2)

    assert not spent.is_continued
    assert after_cut(DECISION, spent, None, None) == replace(
        DECISION,
        action="blocked",
        reason="max_tokens_exhausted",
        detail="the answer was cut off by its output limit, and the continuations of its step, 2,"
        " are spent",
        roll_over=False,
    )


def test_an_answer_of_nothing_leaves_nothing_to_go_on_from() -> None:
    nothing = replace(CUT, answer=replace(TEXT, has_text=False))

    assert after_cut(DECISION, nothing, None, None).detail.endswith(
        "and there is neither text nor reasoning to go on from"
    )


def test_calls_are_carried_out_as_ever() -> None:
    called = replace(CUT, answer=replace(TEXT, has_tool_calls=True))

    assert after_cut(DECISION, called, None, None) == DECISION


def test_an_answer_of_which_nothing_is_known_changes_no_action() -> None:
    unknown = replace(CUT, answer=None)
    decision = after_cut(DECISION, unknown, None, None)

    assert not unknown.is_continued
    assert decision == replace(
        DECISION,
        detail="at the line; the answer was cut off by its output limit, and nothing tells what it"
        " holds",
    )
