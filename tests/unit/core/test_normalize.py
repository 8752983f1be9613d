from dataclasses import replace
from uuid import UUID, uuid5

import pytest

from app.core.blocks import Artifact, ToolResult, text_block
from app.core.items import Item
from app.core.messages import Real, Synthetic
from app.core.normalize import INTERRUPTED_TEXT, normalize
from app.core.request_copy import Memo, Repair, RepairCode, RequestCopy
from tests.requirements import requirement
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    mixed,
    result,
    said,
    step_context,
    stored,
    synthetic,
    tool,
    user,
)

CALLED = assistant(call("c1"))


def normalized(*items: Item, scope: str = "scope-1") -> RequestCopy:
    return normalize(copy_of(*items), step_context(scope=scope))


def interrupted(id: str, name: str = "read") -> ToolResult:
    return result(id, INTERRUPTED_TEXT, name=name, state="interrupted")


def made(id: str, name: str = "read") -> Item:
    """A result made for the request, but for its source."""
    return tool(interrupted(id, name))


def orphan(item_index: int, call_id: str) -> Repair:
    return Repair(
        code="orphan_tool_result_dropped",
        item_index=item_index,
        message_id=f"m{item_index + 1}",
        call_id=call_id,
    )


def repair(code: RepairCode, item_index: int, call_id: str) -> Repair:
    return replace(orphan(item_index, call_id), code=code)


def test_the_text_of_a_made_result() -> None:
    assert INTERRUPTED_TEXT == (
        "Tool result unavailable: the previous turn ended before a durable result was recorded."
    )


@requirement("OW-4.2-missing-result-synthesised")
def test_N1_a_missing_result_is_made_for_the_request() -> None:
    history = stored(user("go"), CALLED, user("and?"))
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], history[1], made("c1"), history[2]])
    assert copy.repairs == (repair("tool_result_synthesised", 1, "c1"),)
    assert (copy.items[0], copy.items[1], copy.items[3]) == history


@requirement("OW-4.2-synthesised-bytes-are-stable", "OW-11-missing-result-is-stable")
def test_N2_the_same_history_gives_the_same_bytes() -> None:
    history = stored(user("go"), CALLED)

    assert normalized(*history) == normalized(*history)


@requirement("OW-4.2-stray-results-removed")
def test_N3_a_user_message_ends_the_run_of_results() -> None:
    history = stored(
        assistant(call("c1", "read"), call("c2", "list")),
        tool(result("c2", "two", name="list")),
        user("stop"),
        tool(result("c1", "one")),
    )
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], made("c1"), history[1], history[2]])
    assert copy.repairs == (repair("tool_result_synthesised", 0, "c1"), orphan(3, "c1"))


@requirement("OW-4.2-stray-results-removed", "OW-4.2-stored-messages-untouched")
def test_N4_a_result_without_a_call_is_left_out() -> None:
    history = stored(user("go"), tool(result("ghost")))
    before = said(history)
    copy = normalized(*history)

    assert copy.items == history[:1]
    assert copy.repairs == (orphan(1, "ghost"),)
    assert said(history) == before


def test_N5_a_second_result_for_a_call_is_left_out() -> None:
    history = stored(CALLED, tool(result("c1", "first")), tool(result("c1", "second")))
    copy = normalized(*history)

    assert copy.items == history[:2]
    assert copy.repairs == (repair("duplicate_tool_result_dropped", 2, "c1"),)


def test_N9_an_unknown_result_within_a_run_does_not_end_it() -> None:
    history = stored(CALLED, tool(result("ghost")), tool(result("c1", "one")))
    copy = normalized(*history)

    assert copy.items == (history[0], history[2])
    assert copy.repairs == (orphan(1, "ghost"),)


@requirement("OW-4.2-results-follow-their-calls")
def test_N10_results_of_one_message_are_split_in_the_order_of_the_calls() -> None:
    one, two = result("c1", "one"), result("c2", "two", name="list")
    history = stored(assistant(call("c1"), call("c2", "list")), tool(two, one))
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], tool(one), tool(two)])
    assert [item.source for item in copy.items[1:]] == [Real(id="m2", sequence=2)] * 2
    assert copy.repairs == ()


@pytest.mark.parametrize("name", ["bash", None])
def test_N11_a_result_is_named_like_its_call(name: str | None) -> None:
    artifact = Artifact(kind="file_change", payload=1)
    given = result("c1", "one", name=name, state="error", artifacts=(artifact,))
    history = stored(CALLED, tool(given))

    assert said(normalized(*history).items) == said([CALLED, tool(replace(given, name="read"))])
    assert normalized(*history).items[1].source == Real(id="m2", sequence=2)


def test_N12_a_result_behind_an_assistant_without_calls_is_left_out() -> None:
    history = stored(assistant("done"), tool(result("c1")))
    copy = normalized(*history)

    assert copy.items == history[:1]
    assert copy.repairs == (orphan(1, "c1"),)


def test_N13_of_two_calls_with_one_id_the_first_gets_the_result() -> None:
    history = stored(assistant(call("x", "read"), call("x", "list")), tool(result("x", "one")))
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], history[1], made("x", "list")])
    assert copy.repairs == (repair("tool_result_synthesised", 0, "x"),)


def test_N13_a_second_result_does_not_reach_the_second_call() -> None:
    history = stored(
        assistant(call("x"), call("x")), tool(result("x", "1")), tool(result("x", "2"))
    )
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], history[1], made("x")])
    assert copy.repairs == (
        repair("tool_result_synthesised", 0, "x"),
        repair("duplicate_tool_result_dropped", 2, "x"),
    )


def test_N13_two_made_results_of_one_id_have_ids_of_their_own() -> None:
    copy = normalized(*stored(assistant(call("x"), call("x"))))
    sources = {item.source for item in copy.items[1:]}

    assert len(sources) == 2
    assert copy.items[1].content == copy.items[2].content


def test_N15_results_behind_another_calling_message_do_not_reach_back() -> None:
    history = stored(
        assistant(call("c1")),
        assistant(call("c2")),
        tool(result("c1", "one")),
        tool(result("c2", "two")),
    )
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], made("c1"), history[1], history[3]])
    assert copy.repairs == (repair("tool_result_synthesised", 0, "c1"), orphan(2, "c1"))


def test_a_call_outside_an_assistant_message_takes_no_result() -> None:
    history = stored(mixed("user", call("c1")), tool(result("c1")))

    assert normalized(*history).items == history[:1]


def test_B008_orphans_anywhere_are_left_out_by_one_walk() -> None:
    history = stored(
        tool(result("x")),
        user("go"),
        tool(result("x")),
        CALLED,
        tool(result("c1"), result("y")),
        tool(result("x")),
        user("more"),
        tool(result("c1")),
    )
    copy = normalized(*history)

    assert said(copy.items) == said([history[1], CALLED, tool(result("c1")), history[6]])
    assert copy.repairs == (
        orphan(0, "x"),
        orphan(2, "x"),
        orphan(4, "y"),
        orphan(5, "x"),
        orphan(7, "c1"),
    )


def test_B010_a_turn_that_was_stopped_between_results_is_valid_again() -> None:
    history = stored(assistant(call("c1"), call("c2")), tool(result("c1")), user("stop"))
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], history[1], made("c2"), history[2]])


def test_B011_gaps_between_results_are_filled_in_call_order() -> None:
    history = stored(assistant(call("c1"), call("c2"), call("c3")), tool(result("c2")))
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], made("c1"), history[1], made("c3")])
    assert copy.repairs == (
        repair("tool_result_synthesised", 0, "c1"),
        repair("tool_result_synthesised", 0, "c3"),
    )


def test_B013_a_rejected_call_has_its_rejection_as_the_result() -> None:
    history = stored(
        assistant(call("c1"), call("c2")),
        tool(result("c1")),
        tool(result("c2", "The user said no.", state="denied")),
    )
    copy = copy_of(*history)

    assert normalize(copy, step_context()) is copy


def test_B016_an_id_that_comes_again_belongs_to_the_later_call() -> None:
    rounds = stored(CALLED, tool(result("c1", "1")), CALLED, tool(result("c1", "2")))
    copy = copy_of(*rounds)

    assert normalize(copy, step_context()) is copy


def test_B017_fifty_rounds_under_one_id_keep_their_fifty_results() -> None:
    rounds = [
        item
        for number in range(50)
        for item in (assistant(call("call_0")), tool(result("call_0", str(number))))
    ]
    copy = copy_of(*stored(*rounds))

    assert normalize(copy, step_context()) is copy


def test_B020_of_two_results_the_first_wins_and_the_second_is_reported() -> None:
    history = stored(
        CALLED, tool(result("c1", "inline", state="error"), result("c1", "again", state="error"))
    )
    copy = normalized(*history)

    assert said(copy.items) == said([CALLED, tool(result("c1", "inline", state="error"))])
    assert copy.repairs == (repair("duplicate_tool_result_dropped", 1, "c1"),)


def test_B022_calls_without_results_and_results_without_calls_are_both_mended() -> None:
    history = stored(assistant(call("a"), call("b")), tool(result("b")), tool(result("zz")))
    copy = normalized(*history)

    assert said(copy.items) == said([history[0], made("a"), history[1]])
    assert copy.repairs == (repair("tool_result_synthesised", 0, "a"), orphan(2, "zz"))


def test_a_well_paired_copy_is_given_back_as_it_is() -> None:
    history = stored(
        user("go"), assistant("so", call("c1"), call("c2")), tool(result("c1")), tool(result("c2"))
    )
    copy = copy_of(*history, assistant("done"), user("thanks", kind="agent_message"))

    assert normalize(copy, step_context()) is copy


def test_normalizing_twice_changes_nothing_more() -> None:
    context = step_context()
    history = stored(assistant(call("c1"), call("c2")), tool(result("c2"), result("c1")), CALLED)
    once = normalize(copy_of(*history), context)
    twice = normalize(copy_of(*once.items), context)

    assert twice.items == once.items
    assert twice.repairs == ()


def test_results_in_the_order_of_arrival_are_put_into_call_order() -> None:
    history = stored(assistant(call("c1"), call("c2")), tool(result("c2")), tool(result("c1")))

    assert normalized(*history).items == (history[0], history[2], history[1])
    assert normalized(*history).repairs == ()


def test_a_made_result_depends_on_the_message_that_called() -> None:
    (_, answer) = normalized(*stored(CALLED)).items

    assert answer.kind == "normal"
    assert answer.depends_on == 1
    assert isinstance(answer.source, Synthetic)
    assert answer.source.reason == "interrupted_tool_result"
    assert UUID(answer.source.id).version == 5


def test_the_id_of_a_made_result_never_changes() -> None:
    namespace = UUID("6f1b2c7e-6f0f-5b5d-9a3b-2f6f1c1a7d10")
    (_, made_for_stored) = normalized(*stored(CALLED)).items
    (_, made_for_live) = normalized(CALLED).items

    assert made_for_stored.source == Synthetic(
        reason="interrupted_tool_result", id=str(uuid5(namespace, "scope-1/m1/c1/0"))
    )
    assert made_for_live.source == Synthetic(
        reason="interrupted_tool_result", id=str(uuid5(namespace, "scope-1/#0/c1/0"))
    )


def test_made_results_of_other_sessions_messages_and_calls_have_other_ids() -> None:
    copies = [
        normalized(*stored(CALLED)),
        normalized(*stored(CALLED), scope="scope-2"),
        normalized(*stored(user("go"), CALLED)),
        normalized(*stored(assistant(call("c2")))),
        normalized(CALLED),
    ]

    assert len({copy.items[-1].source for copy in copies}) == len(copies)


def test_a_compaction_summary_that_calls_nothing_passes_through() -> None:
    copy = copy_of(synthetic("user", "compaction_summary", "summary"), *stored(user("go")))

    assert normalize(copy, step_context()) is copy


def test_live_messages_are_repaired_without_an_id() -> None:
    assert normalized(CALLED, user("and?"), tool(result("ghost"))).repairs == (
        Repair(code="tool_result_synthesised", item_index=0, message_id=None, call_id="c1"),
        Repair(code="orphan_tool_result_dropped", item_index=2, message_id=None, call_id="ghost"),
    )


def test_earlier_repairs_are_kept() -> None:
    copy = RequestCopy(items=stored(tool(result("ghost"))), repairs=(orphan(7, "x"),))

    assert normalize(copy, step_context()).repairs == (orphan(7, "x"), orphan(0, "ghost"))


def test_made_and_picked_results_are_remembered() -> None:
    memo: Memo = {}
    context = step_context(memo=memo)
    history = stored(assistant(call("c1"), call("c2")), tool(result("c1"), result("zz")))
    first = normalize(copy_of(*history), context)
    again = normalize(copy_of(*history), context)

    assert len(memo) == 2
    assert all(
        one.content is other.content for one, other in zip(first.items, again.items, strict=True)
    )


def test_a_made_result_is_measured_like_any_other() -> None:
    (_, answer) = normalized(CALLED).items

    assert answer.facts == made("c1").facts
    assert text_block(INTERRUPTED_TEXT) in interrupted("c1").output
