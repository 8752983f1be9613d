from collections.abc import Iterable

import pytest

from app.policies.continuation import (
    CONTINUATION_TEXT,
    MAX_CONTINUATION_RETRIES,
    Answer,
    Continuation,
    continuation,
    continuation_id,
    may_fail_over,
    partial_id,
)
from tests.requirements import requirement

END = Answer(was_cut_off=False, has_tool_calls=False, has_text=True, has_reasoning=False)
CUT = Answer(was_cut_off=True, has_tool_calls=False, has_text=True, has_reasoning=False)
THOUGHT = Answer(was_cut_off=True, has_tool_calls=False, has_text=False, has_reasoning=True)
CALLED = Answer(was_cut_off=True, has_tool_calls=True, has_text=True, has_reasoning=False)
NOTHING = Answer(was_cut_off=True, has_tool_calls=False, has_text=False, has_reasoning=False)


def step(answers: Iterable[Answer], budget: int) -> tuple[int, Continuation]:
    """How many calls a step makes, and how it ends."""
    for retries, answer in enumerate(answers):
        following = continuation(answer, retries, budget)
        if following.action != "continue":
            return retries + 1, following
    raise AssertionError("the step asked for more answers than there are")


STEPS: list[object] = [
    pytest.param((CUT, END), 2, 2, "proceed", "not_cut_off", id="CT1"),
    pytest.param((CUT, CUT, CUT, END), 2, 3, "fail", "max_tokens_exhausted", id="a spent budget"),
    pytest.param((CUT,), 0, 1, "fail", "max_tokens_exhausted", id="CT3"),
    pytest.param((CALLED,), 2, 1, "proceed", "has_tool_calls", id="CT4"),
    pytest.param((CALLED,), 0, 1, "proceed", "has_tool_calls", id="calls without a budget"),
    pytest.param((NOTHING,), 2, 1, "fail", "max_tokens_exhausted", id="CT5"),
    pytest.param((THOUGHT, END), 2, 2, "proceed", "not_cut_off", id="reasoning alone goes on"),
    pytest.param(
        (CUT, NOTHING), 2, 2, "fail", "max_tokens_exhausted", id="a part and then nothing"
    ),
    pytest.param((CUT, CUT, CUT, END), 3, 4, "proceed", "not_cut_off", id="CT8"),
]


@requirement("AW-continuation-budget")
@pytest.mark.parametrize(("answers", "budget", "calls", "action", "reason"), STEPS)
def test_a_step_goes_on_while_it_is_cut_off_and_has_a_budget(
    answers: tuple[Answer, ...], budget: int, calls: int, action: str, reason: str
) -> None:
    made, end = step(answers, budget)

    assert (made, end.action, end.reason, end.message) == (calls, action, reason, None)


@requirement("AW-continuation-is-apart")
def test_a_cut_answer_is_continued_by_a_user_message() -> None:
    assert continuation(CUT, 0) == Continuation(
        action="continue", reason="cut_off", message=CONTINUATION_TEXT
    )


def test_a_step_goes_on_twice_unless_something_else_is_said() -> None:
    assert MAX_CONTINUATION_RETRIES == 2
    assert step((CUT, CUT, CUT, CUT), MAX_CONTINUATION_RETRIES)[0] == 3


def test_CT7_no_other_model_takes_over_behind_a_part() -> None:
    assert may_fail_over(0)
    assert not may_fail_over(1)


def test_parts_have_ids_that_count_from_0() -> None:
    assert partial_id("run-1", 3, 0) == "run-1-assistant-3-truncated-0"
    assert continuation_id("run-1", 3, 1) == "run-1-continuation-3-1"
