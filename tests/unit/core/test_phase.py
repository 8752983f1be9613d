import pytest

from app.core.items import Item
from app.core.limits import Phase
from app.core.phase import phase_of
from tests.unit.core.builders import assistant, call, result, stored, tool, user

ASKED = (user("go"),)
CALLED = (*ASKED, assistant("", call("c1")))
ANSWERED = (*CALLED, tool(result("c1", "done")))


@pytest.mark.parametrize(
    ("items", "phase"),
    [
        ((), "pre_turn"),
        (ASKED, "pre_turn"),
        (CALLED, "mid_turn"),
        (ANSWERED, "mid_turn"),
        ((*ANSWERED, user("and now?")), "pre_turn"),
    ],
)
def test_without_a_number_the_conversation_tells_the_phase(
    items: tuple[Item, ...], phase: Phase
) -> None:
    assert phase_of(stored(*items), None) == phase


@pytest.mark.parametrize(("model_call", "phase"), [(1, "pre_turn"), (2, "mid_turn")])
def test_the_first_call_of_a_turn_is_before_it_and_later_ones_are_in_it(
    model_call: int, phase: Phase
) -> None:
    assert phase_of(stored(*ASKED), model_call) == phase
    assert phase_of(stored(*ANSWERED), model_call) == phase
