from collections.abc import Mapping, Sequence

import pytest

from app.core import chat_state
from app.core.blocks import Block, Blocks, ProviderOpaque, Thinking, text_block
from app.core.chat_state import Arrival, OpenCall, advance, check_placement, refuse_system_role
from app.core.engine import prepare
from app.core.errors import (
    ContextError,
    DuplicateToolCall,
    EmptyMessage,
    InvalidToolMessage,
    SystemMessageInConversation,
    UnexpectedRole,
    UnmatchedToolResult,
)
from app.core.items import Item
from app.core.messages import Kind, Role
from tests.requirements import requirement
from tests.unit.core.builders import (
    as_blocks,
    assistant,
    call,
    image,
    prepare_input,
    result,
    tool,
    user,
)

OPAQUE = ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload=None)
THINKING = Thinking(type="thinking", thinking="so")
NO_CALLS: Mapping[str, OpenCall] = {}


def arrivals(*items: Item) -> list[Arrival]:
    return [
        Arrival(
            index=index,
            sequence=index + 1,
            message_id=f"m{index}",
            calls=item.facts.calls,
            results=item.facts.results,
        )
        for index, item in enumerate(items)
    ]


def open_ids(*items: Item, open_calls: Mapping[str, OpenCall] = NO_CALLS) -> list[str]:
    return list(advance(open_calls, arrivals(*items)))


@requirement("OW-4.1-result-needs-an-open-call")
def test_C2_a_result_answers_the_call_before_it() -> None:
    assert open_ids(assistant(call("c1"))) == ["c1"]
    assert open_ids(assistant(call("c1")), tool(result("c1"))) == []


@requirement("OW-4.1-no-system-message", "OW-11-gap-loading-a-system-message")
def test_C6_a_system_message_is_refused() -> None:
    with pytest.raises(SystemMessageInConversation) as refused:
        refuse_system_role("system", 4)

    assert refused.value.detail == "persisted conversation must not contain a system message"
    assert refused.value.details == {"message_index": 4}


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_C6_other_roles_pass(role: Role) -> None:
    refuse_system_role(role, 0)


@requirement("OW-4.1-open-call-id-is-unique")
def test_C7_a_call_id_cannot_be_declared_again_while_it_is_open() -> None:
    with pytest.raises(DuplicateToolCall) as refused:
        advance(NO_CALLS, arrivals(assistant(call("c1")), assistant(call("c1"))))

    assert refused.value.detail == "duplicate unresolved tool call: c1"
    assert refused.value.details == {"message_index": 1, "message_id": "m1", "call_id": "c1"}


@requirement("OW-4.1-open-call-id-is-unique")
def test_C7_two_calls_of_one_id_in_one_message_are_refused() -> None:
    with pytest.raises(DuplicateToolCall, match="duplicate unresolved tool call: c1"):
        advance(NO_CALLS, arrivals(assistant(call("c1"), call("c1"))))


@requirement("OW-4.1-open-call-id-is-unique")
def test_C8_an_answered_call_id_may_be_declared_again() -> None:
    history = (assistant(call("c1")), tool(result("c1")), assistant(call("c1")))

    assert open_ids(*history) == ["c1"]
    assert open_ids(*history, tool(result("c1"))) == []


@requirement("OW-4.1-result-needs-an-open-call")
def test_C9_a_second_result_has_no_call_left() -> None:
    with pytest.raises(UnmatchedToolResult) as refused:
        advance(NO_CALLS, arrivals(assistant(call("c1")), tool(result("c1")), tool(result("c1"))))

    assert refused.value.detail == "tool result has no matching assistant tool call: c1"
    assert refused.value.details == {"message_index": 2, "message_id": "m2", "call_id": "c1"}


@pytest.mark.parametrize(
    "messages",
    [[tool(result("ghost"))], [assistant(call("c1")), tool(result("c1"), result("c1"))]],
    ids=["unknown id", "twice in one message"],
)
def test_C9_a_result_without_an_open_call_is_refused(messages: Sequence[Item]) -> None:
    with pytest.raises(UnmatchedToolResult):
        advance(NO_CALLS, arrivals(*messages))


def test_C10_a_tool_message_holds_nothing_but_results() -> None:
    with pytest.raises(InvalidToolMessage) as refused:
        check_placement("tool", "normal", (result("c1"), text_block("and text")), 2)

    assert refused.value.detail == "tool messages must contain only tool result blocks"
    assert refused.value.details == {"message_index": 2, "block_index": 1}


@pytest.mark.parametrize("role", ["user", "tool"])
def test_C12_a_user_or_tool_message_without_blocks_is_refused(role: Role) -> None:
    with pytest.raises(EmptyMessage) as refused:
        check_placement(role, "normal", (), 1)

    assert refused.value.detail == "message content must not be empty"
    assert refused.value.details == {"message_index": 1}


def test_C12_an_assistant_message_may_be_empty_and_a_user_text_too() -> None:
    check_placement("assistant", "normal", (), 0)
    check_placement("user", "normal", (text_block(""),), 0)


@requirement("OW-11-skill-snapshot-before-the-user-message", "OW-9-selected-skill-is-plain-text")
def test_C14_a_selected_skill_stands_before_the_user_message() -> None:
    skill = user("<skill>\n<name>commit</name>\n</skill>", kind="skill_instruction", sequence=1)
    request = user("do it", sequence=2)
    for index, item in enumerate((skill, request)):
        check_placement(item.role, item.kind, as_blocks(["any"]), index)

    assert [item.kind for item in prepare(prepare_input(skill, request)).conversation] == [
        "skill_instruction",
        "normal",
    ]


@pytest.mark.parametrize(
    ("role", "content"),
    [
        ("user", (text_block("a"), image(), OPAQUE)),
        ("assistant", (THINKING, text_block("a"), image(), OPAQUE, call("c"))),
        ("tool", (result("c", "a", image(), OPAQUE), result("d"))),
    ],
)
def test_each_role_holds_its_blocks(role: Role, content: Blocks) -> None:
    check_placement(role, "normal", content, 0)


@pytest.mark.parametrize(
    ("role", "block", "expected"),
    [
        ("user", result("c"), "tool"),
        ("assistant", result("c"), "tool"),
        ("user", call("c"), "assistant"),
        ("user", THINKING, "assistant"),
    ],
)
def test_a_block_in_a_message_of_another_role_is_refused(
    role: Role, block: Block, expected: str
) -> None:
    with pytest.raises(UnexpectedRole) as refused:
        check_placement(role, "normal", (text_block("a"), block), 3)

    assert refused.value.detail == f"unexpected message role: expected {expected}, got {role}"
    assert refused.value.details == {"message_index": 3, "block_index": 1}


@requirement("OW-4.1-contextual-kinds-are-user-role")
@pytest.mark.parametrize("kind", ["skill_instruction", "agent_message", "world_state"])
@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_a_contextual_kind_on_another_role_than_user_is_refused(role: Role, kind: Kind) -> None:
    with pytest.raises(UnexpectedRole) as refused:
        check_placement(role, kind, (), 1)

    assert refused.value.detail == f"unexpected message role: expected user, got {role}"
    assert refused.value.details == {"message_index": 1}


@pytest.mark.parametrize(
    ("block", "error"),
    [
        (call("c2"), UnexpectedRole),
        (THINKING, UnexpectedRole),
        (result("c2"), InvalidToolMessage),
    ],
)
def test_a_result_holds_no_call_no_thinking_and_no_other_result(
    block: Block, error: type[ContextError]
) -> None:
    with pytest.raises(error) as refused:
        check_placement("tool", "normal", (result("c1", "text", block),), 0)

    assert refused.value.details == {"message_index": 0, "block_index": 0}


def test_results_may_come_split_over_messages_and_behind_other_ones() -> None:
    history = (
        assistant(call("c1"), call("c2"), call("c3")),
        tool(result("c3"), result("c1")),
        user("meanwhile"),
        tool(result("c2")),
    )

    assert open_ids(*history[:2]) == ["c2"]
    assert open_ids(*history) == []


def test_a_running_result_leaves_its_call_open() -> None:
    running = (assistant(call("c1")), tool(result("c1", state="running")))

    assert open_ids(*running) == ["c1"]
    assert open_ids(*running, tool(result("c1", state="running"))) == ["c1"]
    assert open_ids(*running, user("and?"), tool(result("c1", state="error"))) == []


def test_a_waiting_call_stays_open_until_it_has_a_final_result() -> None:
    waiting = (assistant(call("c1", state="pending"), call("c2", state="submitted")), user("and?"))

    assert open_ids(*waiting) == ["c1", "c2"]
    assert open_ids(*waiting, tool(result("c2")), tool(result("c1", state="denied"))) == []


def test_a_result_may_answer_a_call_of_an_earlier_batch() -> None:
    before = {"c1": OpenCall(id="c1", name="read", sequence=1)}

    assert open_ids(tool(result("c1")), open_calls=before) == []


def test_a_refused_batch_changes_nothing() -> None:
    before = {"c1": OpenCall(id="c1", name="read", sequence=1)}
    batch = arrivals(tool(result("c1")), assistant(call("c2", "list")), tool(result("ghost")))

    with pytest.raises(UnmatchedToolResult):
        advance(before, batch)
    assert before == {"c1": OpenCall(id="c1", name="read", sequence=1)}


@requirement("OW-4.1-takes-messages-alone", "OW-11-chat-state-takes-messages-alone")
def test_chat_state_knows_no_model_no_system_prompt_and_no_tools() -> None:
    known = {str(getattr(value, "__module__", "")) for value in vars(chat_state).values()}

    assert {module for module in known if module.startswith("app.")} == {
        "app.core.blocks",
        "app.core.chat_state",
        "app.core.errors",
        "app.core.facts",
    }


def test_an_open_call_keeps_its_name_and_the_place_of_its_message() -> None:
    calls = (assistant(call("c1", "read"), call("c2", "list")), user("and?"), assistant(call("c3")))
    after = advance(NO_CALLS, arrivals(*calls))

    assert after == {
        "c1": OpenCall(id="c1", name="read", sequence=1),
        "c2": OpenCall(id="c2", name="list", sequence=1),
        "c3": OpenCall(id="c3", name="read", sequence=3),
    }
