import pytest

from app.compaction.watermark import PrunePlan, plan_prune
from app.core.blocks import Thinking
from app.core.items import Item
from app.core.prune import DEFAULT_PRUNE_CHARS
from app.core.request_copy import PruneBoundary
from app.policies.shaping import Shaping
from tests.requirements import requirement
from tests.unit.core.builders import (
    UNSHAPED,
    assistant,
    call,
    image,
    result,
    step_context,
    synthetic,
    tool,
    user,
)

LONG = "x" * 9_000


def spoken(sequence: int, *call_ids: str) -> Item:
    return assistant("reading", *map(call, call_ids), sequence=sequence)


def answered(sequence: int, call_id: str, text: str = LONG) -> Item:
    return tool(result(call_id, text), sequence=sequence)


THREE_ROUNDS = (
    spoken(1, "first"),
    answered(2, "first"),
    spoken(3, "second"),
    answered(4, "second"),
    spoken(5, "latest"),
    answered(6, "latest"),
)


def planned(
    *items: Item,
    current: int | None = None,
    limit_chars: int = DEFAULT_PRUNE_CHARS,
    shaping: Shaping = UNSHAPED,
) -> PrunePlan | None:
    boundary = PruneBoundary(through_sequence=current)
    return plan_prune(
        items, step_context(boundary=boundary, prune_chars=limit_chars, shaping=shaping)
    )


@requirement("OW-4.2-watermark-moves")
def test_W1_the_first_move_takes_everything_behind_the_latest_answer() -> None:
    assert planned(*THREE_ROUNDS) == PrunePlan(
        through_sequence=5, tool_result_ids=("first", "second")
    )


@requirement("OW-4.2-watermark-moves")
@pytest.mark.parametrize(
    ("current", "plan"),
    [
        pytest.param(3, PrunePlan(through_sequence=5, tool_result_ids=("second",)), id="W2 from 3"),
        pytest.param(5, None, id="W2 from 5"),
        pytest.param(9, None, id="a watermark beyond the latest answer never goes back"),
    ],
)
def test_W2_only_results_behind_the_watermark_are_new(current: int, plan: PrunePlan | None) -> None:
    assert planned(*THREE_ROUNDS, current=current) == plan


@requirement("OW-4.2-watermark-moves")
def test_W3_short_results_move_nothing() -> None:
    assert planned(spoken(1, "c1"), answered(2, "c1", "x" * 100), spoken(3)) is None


def test_W5_without_an_assistant_message_nothing_moves() -> None:
    assert planned(user("hello", sequence=1), answered(2, "ghost")) is None


@pytest.mark.parametrize(
    ("chars", "ids"), [(8_192, None), (8_193, ("c1",))], ids=["at the limit", "one over"]
)
def test_a_result_must_exceed_the_limit(chars: int, ids: tuple[str, ...] | None) -> None:
    plan = planned(spoken(1, "c1"), answered(2, "c1", "x" * chars), spoken(3))

    assert (plan and plan.tool_result_ids) == ids


def test_the_limit_counts_the_joined_text_of_a_result() -> None:
    halves = tool(result("c1", "x" * 4_096, image(), "x" * 4_096), sequence=2)

    assert planned(spoken(1, "c1"), halves, spoken(3)) == PrunePlan(
        through_sequence=3, tool_result_ids=("c1",)
    )


def test_results_of_one_message_are_named_in_block_order() -> None:
    results = tool(result("c2", LONG), result("c3", "short"), result("c1", LONG), sequence=2)

    assert planned(spoken(1, "c1", "c2", "c3"), results, spoken(3)) == PrunePlan(
        through_sequence=3, tool_result_ids=("c2", "c1")
    )


def test_long_texts_of_users_and_assistants_are_no_results() -> None:
    assert planned(user(LONG, sequence=1), assistant(LONG, sequence=2), spoken(3)) is None


def test_live_and_synthetic_items_are_ignored() -> None:
    live = (assistant(call("c1")), tool(result("c1", LONG)), assistant("done"))
    made = synthetic("tool", "interrupted_tool_result", result("c2", LONG))

    assert planned(*live, made) is None
    assert planned(made, *THREE_ROUNDS[:2], *live) is None


def test_another_limit_is_obeyed() -> None:
    items = (spoken(1, "c1"), answered(2, "c1", "x" * 101), spoken(3))

    assert planned(*items, limit_chars=100) == PrunePlan(
        through_sequence=3, tool_result_ids=("c1",)
    )


def test_an_empty_conversation_moves_nothing() -> None:
    assert planned() is None


REPEATED = "y" * 2_000
THOUGHT = Thinking(type="thinking", thinking="hm")
TWO_TURNS = (
    user("read", sequence=1),
    assistant(THOUGHT, call("c1", input="z" * 300), sequence=2),
    answered(3, "c1", REPEATED),
    assistant(call("c2"), sequence=4),
    answered(5, "c2", REPEATED),
    user("thanks", sequence=6),
    assistant(THOUGHT, "welcome", sequence=7),
)


@pytest.mark.parametrize(
    ("shaping", "plan"),
    [
        pytest.param(UNSHAPED, None, id="nothing is long"),
        pytest.param(
            Shaping(tool_retention={"read": "always_clear"}),
            PrunePlan(through_sequence=7, tool_result_ids=("c1", "c2")),
            id="cleared results",
        ),
        pytest.param(
            Shaping(old_call_argument_chars=200),
            PrunePlan(through_sequence=7, call_ids=("c1",)),
            id="arguments",
        ),
        pytest.param(
            Shaping(drop_old_thinking="behind_watermark"),
            PrunePlan(through_sequence=7, thinking_blocks=1),
            id="thinking",
        ),
        pytest.param(
            Shaping(repeated_results="reference"),
            PrunePlan(through_sequence=7, tool_result_ids=("c2",)),
            id="repeated results",
        ),
    ],
)
def test_the_watermark_moves_where_any_rule_gains_something(
    shaping: Shaping, plan: PrunePlan | None
) -> None:
    assert planned(*TWO_TURNS, shaping=shaping) == plan
    assert planned(*TWO_TURNS, current=7, shaping=shaping) is None


def test_a_tool_that_is_never_cleared_moves_nothing() -> None:
    shaping = Shaping(tool_retention={"read": "never_clear"})

    assert planned(*THREE_ROUNDS, shaping=shaping) is None


def test_what_the_old_watermark_has_taken_is_no_gain() -> None:
    shaping = Shaping(
        drop_old_thinking="behind_watermark",
        repeated_results="reference",
        old_call_argument_chars=200,
    )

    assert planned(*TWO_TURNS, current=6, shaping=shaping) is None
    assert planned(*TWO_TURNS, current=4, shaping=shaping) == PrunePlan(
        through_sequence=7, tool_result_ids=("c2",), thinking_blocks=1
    )


def test_the_arguments_of_the_latest_response_move_nothing() -> None:
    items = (user("read", sequence=1), assistant(call("c1", input="z" * 300), sequence=2))

    assert planned(*items, shaping=Shaping(old_call_argument_chars=200)) is None
