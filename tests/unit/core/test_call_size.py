from dataclasses import replace

import pytest

from app.core.blocks import Block, ProviderOpaque, ProviderState, Text, Thinking, text_block
from app.core.budget import RegionTokens
from app.core.call_size import Answer, CallSize, call_size, item_tokens
from app.core.items import Item
from tests.unit.core.builders import (
    READ,
    assistant,
    call,
    image,
    part,
    result,
    stored,
    surface_of,
    synthetic,
    tool,
    user,
)

STATE = ProviderState(driver="d", model="m", data="signature")


def answer(tokens: int, *, calls: int = 0, is_settled: bool = True) -> Answer:
    return Answer(tokens=tokens, calls=calls, is_settled=is_settled, has_reasoning=False)


def answer_after(sequence: int, *items: Item) -> Answer | None:
    return call_size((), items, (), "length/1", sequence).answer


def test_a_message_has_a_price_beside_its_text() -> None:
    assert item_tokens(user("four")) == 4 + 4
    assert item_tokens(tool(result("c1", "four"), result("c2", "four"))) == 8 + 16
    assert item_tokens(assistant()) == 0


def test_B095_the_system_prompt_and_every_tool_are_counted() -> None:
    surface = surface_of([part("a", "system"), part("b", "more")], [READ])
    size = call_size(surface.system, stored(user("four")), surface.tools, "length/1", None)

    assert size == CallSize(
        basis="length/1",
        through_sequence=1,
        regions=RegionTokens(
            system_context=6 + 4 + 4 + 4,
            conversation=8,
            tool_surface=surface.tools[0].tokenizer_tokens,
        ),
        after_sequence=None,
        answer=None,
    )
    assert size.tokens == 18 + 8 + surface.tools[0].tokenizer_tokens


def test_the_answer_is_the_first_stored_one_after_the_call() -> None:
    items = stored(user("q"), assistant("one"), user("q"), assistant("three"), assistant("three"))

    assert answer_after(1, *items) == answer(7)
    assert answer_after(2, *items) == answer(9)
    assert answer_after(5, *items) is None
    assert answer_after(0, synthetic("assistant", "system_reminder", "made up")) is None
    assert answer_after(0, assistant("live")) is None


def test_an_answer_is_settled_when_somebody_sent_every_result() -> None:
    calls = assistant(call("c1"), call("c2"))
    both = stored(user("q"), calls, tool(result("c1", "a")), tool(result("c2", "b")))
    made = synthetic("tool", "interrupted_tool_result", result("c2", "interrupted"))

    assert answer_after(1, *both) == answer(16, calls=2)
    assert answer_after(1, *both[:3], made) == answer(16, calls=2, is_settled=False)


@pytest.mark.parametrize(
    ("block", "has_reasoning"),
    [
        (text_block("a"), False),
        (Text(type="text", text="a", provider_state=STATE), True),
        (Thinking(type="thinking", thinking="a"), True),
        (ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload={}), True),
        (call("c1"), False),
        (replace(call("c1"), provider_state=STATE), True),
        (image(), False),
    ],
)
def test_an_answer_may_hold_what_is_billed_again(block: Block, has_reasoning: bool) -> None:
    found = answer_after(1, *stored(user("q"), assistant(block)))

    assert found is not None
    assert found.has_reasoning is has_reasoning


def test_an_empty_request_has_a_size() -> None:
    assert call_size((), (), (), "length/1", None).tokens == 0
    assert call_size((), (), (), "length/1", None).through_sequence == 0
