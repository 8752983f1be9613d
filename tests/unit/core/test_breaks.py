from dataclasses import replace

import pytest

from app.core.breaks import find_break
from app.core.engine import PreparedCall, PrepareInput, prepare
from app.core.items import Item
from app.core.messages import Real
from app.core.prefix import Break, Cause
from app.core.recipe import Recipe
from app.core.request_copy import PruneBoundary
from app.policies.presets import policy_from, policy_json
from tests.unit.core.builders import (
    OPENWORK,
    PROFILE,
    PROMPT,
    READ,
    TEXT_ONLY,
    assistant,
    call,
    image,
    part,
    prepare_input,
    result,
    stored,
    tool,
    user,
)

RECIPE = Recipe(
    format="neutral",
    model="model-1",
    profile=PROFILE,
    policy=policy_json(OPENWORK),
    agent_ref="a" * 64,
    is_root=True,
    sandbox_available=True,
    boundary=PruneBoundary(),
    generation={},
    through_sequence=4,
)
TIGHT = policy_from({"max_tool_result_tokens": 1_000})
HISTORY = stored(
    user(image(), "context", kind="agent_message"),
    assistant(call("c1")),
    tool(result("c1", "x" * 9_000)),
    user("go"),
)
GIVEN = prepare_input(*HISTORY, tools=(READ,))
"""One system message, then the four of the history."""


def broken(before: PrepareInput, after: PrepareInput, recipe: Recipe) -> Break:
    return find_break(prepare(before), RECIPE, prepare(after), recipe)


SETTINGS: list[tuple[str, PrepareInput, Recipe, int | None]] = [
    (
        "prune",
        replace(GIVEN, boundary=PruneBoundary(through_sequence=3)),
        replace(RECIPE, boundary=PruneBoundary(through_sequence=3)),
        3,
    ),
    (
        "policy_changed",
        replace(GIVEN, policy=TIGHT),
        replace(RECIPE, policy=policy_json(TIGHT)),
        3,
    ),
    (
        "provider_context_changed",
        replace(GIVEN, held_through=1),
        replace(RECIPE, held_through=1),
        1,
    ),
    ("model_changed", replace(GIVEN, profile=TEXT_ONLY), replace(RECIPE, profile=TEXT_ONLY), 1),
    (
        "agent_changed",
        prepare_input(*HISTORY, parts=(part(PROMPT.key, "You are bold."),), tools=(READ,)),
        replace(RECIPE, agent_ref="b" * 64),
        0,
    ),
    (
        "agent_changed",
        prepare_input(*HISTORY, tools=()),
        replace(RECIPE, agent_ref="b" * 64),
        None,
    ),
    (
        "agent_changed",
        prepare_input(*HISTORY, tools=()),
        replace(RECIPE, sandbox_available=False),
        None,
    ),
    (
        "visibility_changed",
        prepare_input(*HISTORY[1:], tools=(READ,)),
        replace(RECIPE, visibility_ordinal=1),
        1,
    ),
]


@pytest.mark.parametrize(
    ("cause", "after", "recipe", "at"),
    [pytest.param(*row, id=f"{row[0]} at {row[3]}") for row in SETTINGS],
)
def test_a_changed_setting_is_the_cause_of_the_break(
    cause: Cause, after: PrepareInput, recipe: Recipe, at: int | None
) -> None:
    assert broken(GIVEN, after, recipe) == Break(at=at, cause=cause)


MOVED: list[tuple[str, tuple[Item, ...], Item]] = [
    ("interrupted_result_replaced", (assistant(call("c1")),), tool(result("c1", "real"))),
    (
        "interrupted_result_replaced",
        (assistant(call("c2"), call("c1")), tool(result("c2"))),
        tool(result("c1", "real")),
    ),
    (
        "late_tool_result",
        (assistant(call("c1", state="pending")), user("and?")),
        tool(result("c1", "late")),
    ),
    (
        "late_tool_result",
        (assistant(call("c1")), tool(result("c1", state="running")), user("and?")),
        tool(result("c1", "late")),
    ),
]


@pytest.mark.parametrize(("cause", "history", "arrived"), MOVED)
def test_a_result_that_moves_in_is_the_cause_of_the_break(
    cause: Cause, history: tuple[Item, ...], arrived: Item
) -> None:
    before = prepare_input(*stored(*history))
    after = prepare_input(*stored(*history, arrived))
    at = 3 if len(history[0].facts.calls) == 2 else 2

    assert broken(before, after, RECIPE) == Break(at=at, cause=cause)


@pytest.mark.parametrize(
    ("through_sequence", "cause"), [(2, "visibility_changed"), (1, "interrupted_result_replaced")]
)
def test_a_result_that_was_hidden_did_not_arrive(through_sequence: int, cause: Cause) -> None:
    call_, answer = stored(assistant(call("c1")), tool(result("c1", "real")))
    made_from = replace(RECIPE, through_sequence=through_sequence)
    before, after = prepare(prepare_input(call_)), prepare(prepare_input(call_, answer))

    assert find_break(before, made_from, after, replace(RECIPE, visibility_ordinal=1)) == Break(
        at=2, cause=cause
    )


def test_a_running_result_that_is_shortened_did_not_give_way() -> None:
    running = result("c1", "x" * 9_000, state="running")
    before = prepare_input(*stored(assistant(call("c1")), tool(running)))
    boundary = PruneBoundary(through_sequence=2)
    after = replace(before, boundary=boundary)

    assert broken(before, after, replace(RECIPE, boundary=boundary)) == Break(at=2, cause="prune")


def test_a_call_that_ends_before_the_other_differs_where_it_ends() -> None:
    one, other = part(PROMPT.key, "1"), part("two", "2")
    changed = replace(RECIPE, agent_ref="b" * 64)

    assert broken(prepare_input(parts=(one, other)), prepare_input(parts=(one,)), changed) == Break(
        at=1, cause="agent_changed"
    )


def test_a_stored_result_that_gives_way_is_no_late_one() -> None:
    before: PreparedCall = prepare(GIVEN)
    (_, _, given, _) = before.conversation

    assert given.source == Real(id="m3", sequence=3)
    assert find_break(
        before, RECIPE, prepare(replace(GIVEN, policy=TIGHT)), replace(RECIPE, policy={})
    ) == Break(at=3, cause="policy_changed")


def test_a_result_that_is_sent_to_a_thread_replaced_nothing() -> None:
    history = (assistant(call("c1")), user("and?"))
    before = replace(prepare_input(*stored(*history)), held_through=1)
    after = replace(prepare_input(*stored(*history, user("so?"))), held_through=2)
    recipe = replace(RECIPE, held_through=1)

    assert find_break(
        prepare(before), recipe, prepare(after), replace(RECIPE, held_through=2)
    ) == Break(at=1, cause="provider_context_changed")
