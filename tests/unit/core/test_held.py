"""What a provider holds is not sent again, and what it waits for is."""

from dataclasses import replace

import pytest

from app.core.engine import PreparedCall, PrepareInput, prepare
from app.core.items import Item, item_of
from app.core.messages import Real, Synthetic
from app.core.request_copy import ProjectionSummary, PruneBoundary, PruneCounts, Repair
from app.core.usage import NO_USAGE
from tests.unit.core.builders import (
    assistant,
    call,
    form,
    prepare_input,
    result,
    stored,
    synthetic,
    tool,
    user,
)

PARALLEL = stored(
    user("go"),
    assistant(call("c1"), call("c2"), call("c3")),
    tool(result("c2")),
    tool(result("c1")),
)
"""One of the calls is never answered."""


def sent(given: PrepareInput, held_through: int | None) -> list[str]:
    """What is sent after the provider took so much: ids of messages, and the calls of results."""
    return [_name(item) for item in prepare(replace(given, held_through=held_through)).conversation]


def _name(item: Item) -> str:
    match item.source:
        case Real():
            return item.source.id or "live"
        case Synthetic(reason="interrupted_tool_result"):
            return f"made:{item.facts.results[0].id}"
    return item.source.reason


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        pytest.param(None, ["m1", "m2", "m4", "m3", "made:c3"], id="a lost thread"),
        pytest.param(0, ["m1", "m2", "m4", "m3", "made:c3"], id="a new thread"),
        pytest.param(1, ["m2", "m4", "m3", "made:c3"], id="the calls are new"),
        pytest.param(2, ["m4", "m3", "made:c3"], id="every result is new"),
        pytest.param(3, ["m4", "made:c3"], id="one result is held and one is new"),
        pytest.param(4, ["made:c3"], id="only what is made for the last call"),
    ],
)
def test_a_result_follows_its_held_call(held: int | None, expected: list[str]) -> None:
    assert sent(prepare_input(*PARALLEL), held) == expected


def test_parallel_results_keep_the_order_of_their_held_calls() -> None:
    items = stored(
        user("go"),
        assistant(call("c1"), call("c2"), call("c3")),
        tool(result("c3")),
        tool(result("c2"), result("c1")),
    )

    assert sent(prepare_input(*items), 3) == ["m4", "m4"]
    answered = prepare(replace(prepare_input(*items), held_through=3)).conversation
    assert [item.facts.results[0].id for item in answered] == ["c1", "c2"]


def test_a_made_result_is_not_sent_again_once_the_provider_went_on() -> None:
    items = stored(user("go"), assistant(call("c1")), user("and?"), assistant("yes"), user("so"))

    assert sent(prepare_input(*items), 2) == ["made:c1", "m3", "m4", "m5"]
    assert sent(prepare_input(*items), 4) == ["m5"]


def test_a_late_result_of_a_held_call_is_what_follows() -> None:
    waiting = assistant(call("c1", state="pending"))
    items = stored(user("go"), waiting, user("and?"), assistant("wait"), tool(result("c1")))

    assert sent(prepare_input(*items), 4) == ["m5"]


def test_where_all_is_held_only_the_system_parts_are_sent() -> None:
    assert sent(prepare_input(*stored(user("go"), assistant("done"))), 2) == []


def test_what_stands_for_a_fold_counts_by_what_it_depends_on() -> None:
    summary = replace(synthetic("user", "compaction_summary", "so far"), depends_on=4)
    items = (summary, user("and?", sequence=5))

    assert sent(prepare_input(*items), 3) == ["compaction_summary", "m5"]
    assert sent(prepare_input(*items), 4) == ["m5"]


def test_repairs_are_told_of_what_is_sent() -> None:
    items = stored(
        assistant(call("old")),
        user("go"),
        assistant(call("c1"), call("c2")),
        tool(result("c1")),
        tool(result("c1")),
    )
    given = prepare_input(*items)

    def repairs(held: int | None) -> list[tuple[str, str | None]]:
        call = prepare(replace(given, held_through=held))
        return [(repair.code, repair.call_id) for repair in call.repairs]

    duplicate = ("duplicate_tool_result_dropped", "c1")
    missing = ("tool_result_synthesised", "c2")
    assert repairs(None) == [("tool_result_synthesised", "old"), missing, duplicate]
    assert repairs(3) == [missing, duplicate]
    assert repairs(5) == [missing]


def test_what_is_shortened_is_counted_where_it_is_sent() -> None:
    items = stored(
        assistant(call("c1")),
        tool(result("c1", "x" * 40_000)),
        assistant(call("c2")),
        tool(result("c2", "y" * 40_000)),
        assistant("done"),
    )
    given = prepare_input(*items, boundary=PruneBoundary(through_sequence=4))

    assert counts(given, None)[0] == PruneCounts(tool_results=2)
    assert counts(given, 2)[0] == PruneCounts(tool_results=1)
    assert counts(given, 5) == (PruneCounts(), ProjectionSummary())


def counts(given: PrepareInput, held: int | None) -> tuple[PruneCounts, ProjectionSummary]:
    made = prepare(replace(given, held_through=held))
    return made.pruned, made.projection


def test_measures_speak_of_what_is_sent() -> None:
    items = stored(user("x" * 4_000), assistant("done"), user("and?"))
    whole, part = prepare_both(prepare_input(*items), 2)
    alone = prepare(prepare_input(*items[2:]))

    assert part.budget.estimate == alone.budget.estimate
    assert part.budget.estimate.total < whole.budget.estimate.total
    assert part.decision.input_tokens == alone.decision.input_tokens
    assert part.size.regions == alone.size.regions
    assert (whole.size.is_whole, part.size.is_whole) == (True, False)


def test_a_request_that_ends_with_what_is_held_ends_there() -> None:
    _, nothing = prepare_both(prepare_input(*stored(user("go"), assistant("done"))), 2)

    assert nothing.size.through_sequence == 2


def prepare_both(given: PrepareInput, held: int) -> tuple[PreparedCall, PreparedCall]:
    given = replace(given, usage=NO_USAGE)
    return prepare(given), prepare(replace(given, held_through=held))


def test_a_repair_of_a_live_message_is_kept() -> None:
    live = item_of("tool", "normal", form("tool", result("gone")), Real())
    given = replace(prepare_input(user("go", sequence=1), live), held_through=1)

    assert prepare(given).repairs == (
        Repair(code="orphan_tool_result_dropped", item_index=1, message_id=None, call_id="gone"),
    )
