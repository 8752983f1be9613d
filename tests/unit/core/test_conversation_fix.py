from dataclasses import replace

import pytest
from hypothesis import given

from app.core.blocks import Block, ProviderState, Text, Thinking, text_block
from app.core.content import decode_content
from app.core.conversation_fix import fix, fix_once, in_places
from app.core.fix_passes import Fixed, Said
from app.core.items import Item
from app.core.messages import Role
from tests.properties.conversations import ANYTHING, REPAIRABLE, conversations
from tests.unit.core.builders import as_blocks, call, image, result

THINKING = Thinking(type="thinking", thinking="hm")
SIGNED = Text(type="text", text=" ", provider_state=ProviderState(driver="d", model="m", data={}))

TRIMMED = "Trimmed trailing whitespace from assistant message"
EMPTY = "Removed empty message"
MERGED_USER = "Merged consecutive user messages"
LEADING = "Removed leading assistant message"
TRAILING = "Removed trailing assistant message"
PLACEHOLDER = "Added placeholder user message to empty conversation"


def U(*content: str | Block) -> Said:
    return Said(role="user", blocks=as_blocks(content))


def A(*content: str | Block) -> Said:
    return Said(role="assistant", blocks=as_blocks(content))


def T(*content: str | Block) -> Said:
    return Said(role="tool", blocks=as_blocks(content))


def orphan_request(id_: str) -> str:
    return f"Removed orphaned tool request '{id_}'"


def orphan_response(id_: str) -> str:
    return f"Removed orphaned tool response '{id_}'"


CASES = [
    pytest.param(
        [U("a"), U("b"), A("c  ")], [U("a", "b")], [TRIMMED, MERGED_USER, TRAILING], id="X3"
    ),
    pytest.param(
        [A("text", call("s1")), U(""), T(result("wrong", "x")), A(call("s2"))],
        [U("Hello")],
        [EMPTY, orphan_response("wrong"), orphan_request("s1"), orphan_request("s2"), EMPTY, EMPTY,
         LEADING, PLACEHOLDER],
        id="X4",
    ),
    pytest.param(
        [U("q"), A(call("1")), T(result("1", "x")), U("Thanks")],
        [U("q"), A(call("1")), T(result("1", "x")), U("Thanks")],
        [],
        id="X6",
    ),
    pytest.param(
        [U("q"), A(call("1"), call("2")), T(result("1", "x")), T(result("2", "y"))],
        [U("q"), A(call("1"), call("2")), T(result("1", "x"), result("2", "y"))],
        ["Merged consecutive tool messages"],
        id="X7",
    ),
    pytest.param(
        [U("q"), A(call("1")), T(result("1", ""))],
        [U("q"), A(call("1")), T(result("1", "", "(empty result)"))],
        ["Added placeholder to empty tool result '1'"],
        id="X11",
    ),
    pytest.param(
        [U("q"), A(call("1")), T(result("1", image()))],
        [U("q"), A(call("1")), T(result("1", image()))],
        [],
        id="a result of media is not empty",
    ),
    pytest.param(
        [U("q"), A(call("1")), T(result("1", "x"), result("1", "y"))],
        [U("q"), A(call("1")), T(result("1", "x"))],
        [orphan_response("1")],
        id="X12",
    ),
    pytest.param(
        [U("a", THINKING), A(result("o", "x"), "z"), U("e")],
        [U("a"), A("z"), U("e")],
        ["Removed thinking content from user message",
         "Removed tool response 'o' from assistant message"],
        id="X14",
    ),
    pytest.param(
        [T(result("1", "x")), A(call("1")), U("e")],
        [U("e")],
        [orphan_response("1"), orphan_request("1"), EMPTY, EMPTY],
        id="X15",
    ),
    pytest.param([U(""), A("   "), U("x")], [U("x")], [TRIMMED, EMPTY, EMPTY], id="X16"),
    pytest.param([A("lead"), U("u"), A("trail")], [U("u")], [LEADING, TRAILING], id="X18"),
    pytest.param(
        [A(call("1")), T(result("1", "x")), A("x"), U("y")],
        [T(result("1", "x")), A("x"), U("y")],
        [LEADING],
        id="X19",
    ),
    pytest.param([U("q"), A("hi", call("1"))], [U("q")], [orphan_request("1"), TRAILING], id="X20"),
    pytest.param(
        [U("a"), A("Hello", " world", "!"), U("b")],
        [U("a"), A("Hello world!"), U("b")],
        ["Merged text content"],
        id="X22",
    ),
    pytest.param(
        [U("a", call("1"))], [U("a")], ["Removed tool request '1' from user message"],
        id="people call no tools",
    ),
    pytest.param(
        [U("q"), A("a"), T("text"), U("b")],
        [U("q"), A("a"), U("text", "b")],
        [MERGED_USER],
        id="a tool message without a result is the user's",
    ),
    pytest.param(
        [U("q"), A(call("1")), A(call("1")), T(result("1", "x"))],
        [U("q"), A(call("1")), T(result("1", "x"))],
        [orphan_request("1"), EMPTY],
        id="an id that is used again before its answer",
    ),
    pytest.param(
        [U("q"), A(SIGNED, SIGNED), U("b")], [U("q"), A(SIGNED, SIGNED), U("b")], [],
        id="signed text stays as it is",
    ),
    pytest.param(
        [U("q"), A("a"), A("b"), U("c")],
        [U("q"), A("a", "b"), U("c")],
        ["Merged consecutive assistant messages"],
        id="merged messages keep their texts apart in the first run",
    ),
]  # fmt: skip


def plain(messages: tuple[Said, ...]) -> list[tuple[Role, tuple[Block, ...]]]:
    return [(said.role, said.blocks) for said in messages]


def of_items(items: tuple[Item, ...]) -> tuple[Said, ...]:
    return tuple(
        Said(role=item.role, blocks=decode_content(item.content), origins=(index,))
        for index, item in enumerate(items)
    )


@pytest.mark.parametrize(("given_messages", "fixed", "issues"), CASES)
def test_one_run_changes_what_no_provider_takes_and_tells_it(
    given_messages: list[Said], fixed: list[Said], issues: list[str]
) -> None:
    made = fix_once(given_messages)

    assert made.messages == tuple(fixed)
    assert list(made.issues) == issues


def test_X2_a_placeholder_has_no_place_where_there_are_no_messages() -> None:
    made = fix_once([])

    assert made.issues == (PLACEHOLDER,)
    assert in_places(made.messages, []) == ()


def test_X10_a_placeholder_has_no_place_among_hidden_messages() -> None:
    made = fix_once([])

    assert in_places(made.messages, [True]) == (0,)


def test_X8_visible_messages_slide_forward_past_hidden_ones() -> None:
    made = fix_once([U("1"), U("2"), U("3"), A("a"), U("4")])
    placed = in_places(made.messages, [False, True, False, False, False, True, False])

    assert made.issues == (MERGED_USER, MERGED_USER)
    assert placed == (U("1", "2", "3"), 1, A("a"), U("4"), 5)


def test_runs_go_on_until_nothing_changes() -> None:
    merged = fix([U("q"), A("a"), A("b"), U("c")])
    orphaned = fix([A(call("1")), T(result("1", "x")), A("x"), U("y")])

    assert merged.messages == (U("q"), A("ab"), U("c"))
    assert merged.issues == ("Merged consecutive assistant messages", "Merged text content")
    assert orphaned.messages == (U("y"),)
    assert orphaned.issues == (LEADING, orphan_response("1"), EMPTY, LEADING)


def test_a_merged_message_says_what_it_was_made_of() -> None:
    said = [
        Said(role="user", blocks=(text_block(text),), origins=(index,))
        for index, text in enumerate("abc")
    ]

    assert fix(said).messages == (
        Said(role="user", blocks=as_blocks(["a", "b", "c"]), origins=(0, 1, 2)),
    )
    assert fix([]).messages == (U("Hello"),)


@given(conversations(ANYTHING))
def test_a_fixed_conversation_stays_as_it_is(items: tuple[Item, ...]) -> None:
    once = fix(of_items(items))
    again = fix(once.messages)

    assert again.messages == once.messages
    assert again.issues == ()
    assert fix_once(once.messages).issues == ()


@given(conversations(REPAIRABLE))
def test_a_fixed_conversation_has_a_result_for_every_call_and_a_call_for_every_result(
    items: tuple[Item, ...],
) -> None:
    waiting: list[str] = []
    unasked: list[str] = []
    made = fix(of_items(items)).messages
    for said in made:
        for block in said.blocks:
            match block.type:
                case "tool_call":
                    waiting.append(block.id)
                case "tool_result":
                    (waiting.remove if block.id in waiting else unasked.append)(block.id)

    assert waiting == unasked == []
    assert made[0].role != "assistant"
    assert made[-1].role != "assistant"
    assert all(said.blocks for said in made)


def test_what_has_to_stay_goes_for_no_order_of_speakers() -> None:
    held = replace(A("held"), stays=True)
    merged = replace(A("held", "b"), stays=True)

    assert fix_once([held, U("q"), held]) == Fixed(messages=(held, U("q"), held))
    assert fix_once([A("a"), U("q"), held, A("b")]).messages == (U("q"), merged)
