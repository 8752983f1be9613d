from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chat_state import Arrival, OpenCall, advance
from app.core.engine import request_copy
from app.core.errors import DuplicateToolCall, UnmatchedToolResult
from app.core.items import Item
from app.core.renamed_calls import rename_calls
from app.core.request_copy import RequestCopy
from app.policies.shaping import Shaping
from tests.properties.conversations import DENSE, REPAIRABLE, conversations
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    result,
    step_context,
    stored,
    tool,
    user,
)

RENAME = step_context(shaping=Shaping(duplicate_call_ids="rename"))


def ids(copy: RequestCopy) -> list[list[str]]:
    """The calls and results of each message."""
    return [
        [call.id for call in item.facts.calls] or [result.id for result in item.facts.results]
        for item in copy.items
        if item.facts.calls or item.facts.results
    ]


def renamed(*items: Item) -> RequestCopy:
    return rename_calls(copy_of(*stored(*items)), RENAME)


def test_B019_two_calls_of_a_message_that_share_an_id_get_their_results_in_order() -> None:
    copy = renamed(
        user("q"), assistant(call("x"), call("x")), tool(result("x", "r1"), result("x", "r2"))
    )

    assert ids(copy) == [["x", "x~2"], ["x", "x~2"]]
    assert [(repair.code, repair.message_id, repair.call_id) for repair in copy.repairs] == [
        ("call_id_renamed", "m2", "x")
    ]


def test_B016_an_id_that_is_used_again_after_its_result_is_as_it_was() -> None:
    items = [assistant(call("d")), tool(result("d")), assistant(call("d")), tool(result("d"))]
    copy = renamed(user("q"), *items)

    assert ids(copy) == [["d"]] * 4
    assert copy.repairs == ()


def test_a_call_that_waits_keeps_its_id_and_gets_its_late_result() -> None:
    copy = renamed(
        user("q"),
        assistant(call("x", state="pending")),
        user("r"),
        assistant(call("x")),
        tool(result("x", "late")),
        tool(result("x", "second")),
    )

    assert ids(copy) == [["x"], ["x~2"], ["x"], ["x~2"]]


def test_a_call_that_was_never_answered_gives_its_id_back() -> None:
    copy = renamed(user("q"), assistant(call("x")), user("stop"), assistant(call("x")))

    assert ids(copy) == [["x"], ["x"]]


def test_a_made_name_is_none_that_stands_in_front() -> None:
    copy = renamed(user("q"), assistant(call("x~2")), assistant(call("x"), call("x"), call("x")))

    assert ids(copy) == [["x~2"], ["x", "x~3", "x~4"]]


def test_unless_it_is_asked_for_nothing_is_renamed() -> None:
    copy = copy_of(*stored(user("q"), assistant(call("x"), call("x"))))

    assert rename_calls(copy, step_context()) is copy


CONVERSATIONS = st.one_of(conversations(DENSE), conversations(REPAIRABLE))


@given(CONVERSATIONS)
def test_open_calls_have_ids_of_their_own_and_the_request_is_well_paired(
    items: tuple[Item, ...],
) -> None:
    open_ids: list[str] = []
    for item in request_copy(items, RENAME).items:
        if item.role == "tool":
            open_ids.remove(item.facts.results[0].id)
            continue
        assert open_ids == []
        open_ids = [each.id for each in item.facts.calls]
        assert max(Counter(open_ids).values(), default=1) == 1
    assert open_ids == []


@given(CONVERSATIONS, st.data())
def test_a_longer_conversation_names_no_call_otherwise(
    items: tuple[Item, ...], data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, len(items)))
    shorter, longer = (rename_calls(copy_of(*each), RENAME) for each in (items[:end], items))

    assert longer.items[:end] == shorter.items
    assert rename_calls(replace(longer, repairs=()), RENAME).items == longer.items


def arrival(*facts: Item) -> list[Arrival]:
    return [
        Arrival(
            index=at,
            sequence=at + 1,
            message_id=f"m{at}",
            calls=item.facts.calls,
            results=item.facts.results,
        )
        for at, item in enumerate(facts)
    ]


def test_calls_that_share_an_id_are_open_until_each_has_its_result() -> None:
    asked = arrival(assistant(call("x"), call("x")))
    both = advance({}, asked, "rename")
    one = advance(both, arrival(tool(result("x"))), "rename")

    assert both == {"x": OpenCall(id="x", name="read", sequence=1, count=2)}
    assert one["x"].count == 1
    assert advance(one, arrival(tool(result("x"))), "rename") == {}
    with pytest.raises(DuplicateToolCall):
        advance({}, asked)
    with pytest.raises(UnmatchedToolResult):
        advance({}, arrival(tool(result("x"))), "rename")
