from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.core.append import (
    MAX_MESSAGE_BYTES,
    AppendPlan,
    AppendState,
    Draft,
    check_drafts,
    check_size,
    plan_append,
)
from app.core.blocks import Block
from app.core.chat_state import OpenCall
from app.core.content import decode_content
from app.core.errors import (
    ContextError,
    ConversationMoved,
    DuplicateToolCall,
    EmptyMessage,
    InvalidId,
    InvalidToolMessage,
    ItemOverLimit,
    MessageConflict,
    MessageTooLarge,
    ReservedId,
    SystemMessageInConversation,
    UnexpectedKind,
    UnexpectedRole,
    UnmatchedToolResult,
    UnsupportedUserData,
)
from app.core.messages import Role
from app.core.stored import NewMessage, StoredMessage, item_of_message
from tests.requirements import requirement
from tests.unit.core.builders import assistant, call, form, image, result, user

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
EMPTY = AppendState(message_count=0, existing={}, open_calls={}, accepts_data_blocks=True)


def message(id: str, role: Role, *content: str | Block, **changes: Any) -> NewMessage:
    made = form(role, *content)
    fields: dict[str, Any] = {"kind": "normal", "turn_id": None} | changes
    return NewMessage(
        id=id,
        role=role,
        agent_visible=fields.pop("agent_visible", True),
        user_visible=fields.pop("user_visible", True),
        created_at=fields.pop("created_at", NOON),
        content=made.content,
        facts=made.facts,
        **fields,
    )


def drafts(*messages: NewMessage) -> list[Draft]:
    return [
        Draft(index=index, message=message, content=decode_content(message.content))
        for index, message in enumerate(messages)
    ]


def plan(
    *messages: NewMessage, state: AppendState = EMPTY, expected: int | None = None
) -> AppendPlan:
    return plan_append(drafts(*messages), state, expected)


def after(*messages: NewMessage, **changes: Any) -> AppendState:
    """The state of a session that holds these messages."""
    return AppendState(
        message_count=len(messages),
        existing={
            message.id: StoredMessage(sequence=sequence, message=message)
            for sequence, message in enumerate(messages, start=1)
        },
        open_calls=plan(*messages).open_calls,
        accepts_data_blocks=changes.get("accepts_data_blocks", True),
    )


HELLO = message("m1", "user", "hello")
CALLS = message("m2", "assistant", call("c1"), call("c2", "list"))
FIRST = message("m3", "tool", result("c1", "one"))


@requirement("OW-4.1-append-is-the-only-writer")
def test_new_messages_take_the_next_sequences() -> None:
    state = replace(EMPTY, message_count=7)

    assert plan(HELLO, CALLS, FIRST, state=state) == AppendPlan(
        arrived=(HELLO, CALLS, FIRST),
        placed=(("m1", 8), ("m2", 9), ("m3", 10)),
        open_calls={"c2": OpenCall(id="c2", name="list", sequence=9)},
    )


def test_messages_that_are_stored_change_nothing() -> None:
    state = after(HELLO, CALLS)

    assert plan(CALLS, HELLO, state=state, expected=99) == AppendPlan(
        arrived=(), placed=(("m2", 2), ("m1", 1)), open_calls=state.open_calls
    )


def test_a_batch_may_mix_stored_and_new_messages() -> None:
    made = plan(CALLS, FIRST, HELLO, state=after(HELLO, CALLS), expected=2)

    assert made.arrived == (FIRST,)
    assert made.placed == (("m2", 2), ("m3", 3), ("m1", 1))


def test_a_message_given_twice_in_a_batch_is_one() -> None:
    made = plan(HELLO, HELLO, CALLS)

    assert made.arrived == (HELLO, CALLS)
    assert made.placed == (("m1", 1), ("m1", 1), ("m2", 2))


def test_another_time_is_no_other_message() -> None:
    later = replace(HELLO, created_at=NOON.replace(hour=13))

    assert plan(later, state=after(HELLO)).arrived == ()


def test_two_ids_are_two_messages_whatever_their_text() -> None:
    assert len(plan(HELLO, message("m2", "user", "hello")).arrived) == 2


@pytest.mark.parametrize(
    "other",
    [
        message("m1", "user", "other"),
        message("m1", "assistant", "hello"),
        message("m1", "user", "hello", kind="agent_message"),
        message("m1", "user", "hello", turn_id="t1"),
        message("m1", "user", "hello", agent_visible=False),
        message("m1", "user", "hello", user_visible=False),
    ],
    ids=["content", "role", "kind", "turn", "agent visibility", "user visibility"],
)
def test_an_id_with_anything_else_is_a_conflict(other: NewMessage) -> None:
    for state, batch in [(after(HELLO), (FIRST, other)), (EMPTY, (HELLO, other))]:
        with pytest.raises(MessageConflict) as refused:
            plan(*batch, state=state)

        assert refused.value.detail == "message 'm1' is stored with other content"
        assert refused.value.details == {"message_id": "m1", "message_index": 1}


@pytest.mark.parametrize("expected", [None, 2])
def test_the_expected_count_is_that_before_the_batch(expected: int | None) -> None:
    assert plan(FIRST, state=after(HELLO, CALLS), expected=expected).arrived == (FIRST,)


@pytest.mark.parametrize("batch", [(FIRST,), (HELLO, FIRST), ()])
def test_another_count_than_the_expected_one_is_refused(batch: Sequence[NewMessage]) -> None:
    with pytest.raises(ConversationMoved) as refused:
        plan(*batch, state=after(HELLO, CALLS), expected=3)

    assert refused.value.detail == "the session holds 2 messages, not 3"
    assert refused.value.details == {"message_count": 2}


def test_an_absent_result_name_is_filled_from_its_call() -> None:
    nameless = message(
        "m3", "tool", result("c1", "one", name=None), result("c2", "two", name="given")
    )
    named = message("m3", "tool", result("c1", "one"), result("c2", "two", name="given"))

    assert plan(nameless, state=after(HELLO, CALLS)).arrived == (named,)
    assert plan(HELLO, CALLS, nameless).arrived[2] == named
    assert plan(nameless, state=after(HELLO, CALLS, named)).arrived == ()
    assert plan(CALLS, nameless, nameless).arrived == (CALLS, named)


def test_a_result_is_named_like_the_latest_call_of_its_id() -> None:
    rounds = [
        message("a1", "assistant", call("c", "read")),
        message("t1", "tool", result("c", name=None)),
        message("a2", "assistant", call("c", "list")),
        message("t2", "tool", result("c", name=None)),
    ]
    (_, first, _, second) = plan(*rounds).arrived

    assert [first.facts.results[0].name, second.facts.results[0].name] == ["read", "list"]


def test_a_filled_name_keeps_the_count_of_tokens() -> None:
    nameless = message("m3", "tool", result("c1", "one", name=None))
    counted = replace(
        nameless, facts=replace(nameless.facts, tokenizer_tokens=77, token_basis="other/1")
    )
    (named,) = plan(counted, state=after(HELLO, CALLS)).arrived

    assert (named.facts.tokenizer_tokens, named.facts.token_basis) == (77, "other/1")
    assert named.facts.content_bytes == len(named.content) > len(nameless.content)


REFUSALS: list[tuple[str, NewMessage, type[ContextError]]] = [
    ("duplicate call", message("m3", "assistant", call("c1")), DuplicateToolCall),
    ("unmatched result", message("m3", "tool", result("ghost")), UnmatchedToolResult),
    (
        "skill",
        message("m3", "user", "x" * 31_970, kind="skill_instruction"),
        ItemOverLimit,
    ),
    ("agent message", message("m3", "user", "x" * 15_970, kind="agent_message"), ItemOverLimit),
    ("media", message("m3", "user", "see", image()), UnsupportedUserData),
]


@requirement("OW-7.3-refused-not-cut")
@pytest.mark.parametrize(
    ("refused", "error"), [pytest.param(*row[1:], id=row[0]) for row in REFUSALS]
)
def test_a_batch_with_a_fault_is_refused_whole(
    refused: NewMessage, error: type[ContextError]
) -> None:
    state = after(HELLO, CALLS, accepts_data_blocks=False)
    good = message("m0", "user", "good")

    with pytest.raises(error):
        plan(good, refused, state=state)
    assert plan(good, state=state).placed == (("m0", 3),)


def test_media_is_refused_only_in_user_requests_and_only_where_the_model_takes_none() -> None:
    batch = (
        message("a", "user", image(), kind="agent_message"),
        message("b", "assistant", image(), call("c")),
        message("d", "tool", result("c", image())),
    )

    assert len(plan(*batch, state=replace(EMPTY, accepts_data_blocks=False)).arrived) == 3
    assert len(plan(message("a", "user", image())).arrived) == 1


def test_a_message_with_refused_media_is_named() -> None:
    with pytest.raises(UnsupportedUserData) as refused:
        plan(message("m1", "user", image()), state=replace(EMPTY, accepts_data_blocks=False))

    assert refused.value.detail == (
        "the session's model does not accept data blocks in real user input"
    )
    assert refused.value.details == {"message_index": 0, "message_id": "m1"}


def test_an_oversized_item_is_named_by_its_first_text() -> None:
    skill = message(
        "m1", "user", image(), "<skill>\n<name>big</name>\n" + "x" * 32_000,
        kind="skill_instruction",
    )  # fmt: skip
    wordless = message("m1", "user", image("Z" * 32_000), kind="skill_instruction")

    with pytest.raises(ItemOverLimit, match="skill big needs"):
        plan(skill)
    with pytest.raises(ItemOverLimit, match="skill m1 needs"):
        plan(wordless)


@pytest.mark.parametrize(
    ("batch", "expected", "error"),
    [
        pytest.param(
            (message("m1", "user", "other"),), 9, MessageConflict, id="identity before count"
        ),
        pytest.param((FIRST, FIRST), 9, ConversationMoved, id="count before chat state"),
        pytest.param(
            (
                message("m8", "user", "x" * 32_000, kind="skill_instruction"),
                message("m9", "tool", result("ghost")),
            ),
            None,
            UnmatchedToolResult,
            id="chat state before item limits",
        ),
    ],
)
def test_of_several_faults_the_first_kind_is_the_answer(
    batch: Sequence[NewMessage], expected: int | None, error: type[ContextError]
) -> None:
    with pytest.raises(error):
        plan(*batch, state=after(HELLO), expected=expected)


SHAPES: list[tuple[str, tuple[NewMessage, ...], type[ContextError]]] = [
    ("id", (HELLO, message("a b", "user", "x")), InvalidId),
    ("reserved id", (HELLO, message("prep-1", "user", "x")), ReservedId),
    ("turn id", (message("m1", "user", "x", turn_id="a/b"),), InvalidId),
    ("system", (HELLO, message("m2", "system", "x")), SystemMessageInConversation),
    ("kind", (message("m1", "user", "x", kind="world_state"),), UnexpectedKind),
    ("empty", (message("m1", "user"),), EmptyMessage),
    ("tool", (message("m1", "tool", "x"),), InvalidToolMessage),
    ("block", (message("m1", "user", call("c")),), UnexpectedRole),
    (
        "system before placement",
        (message("m1", "user"), message("m2", "system")),
        SystemMessageInConversation,
    ),
]


@pytest.mark.parametrize(("batch", "error"), [pytest.param(*row[1:], id=row[0]) for row in SHAPES])
def test_a_message_that_no_session_takes_is_refused(
    batch: tuple[NewMessage, ...], error: type[ContextError]
) -> None:
    with pytest.raises(error):
        check_drafts(drafts(*batch))


def test_a_message_that_is_too_large_names_the_limit() -> None:
    check_size(MAX_MESSAGE_BYTES, 1)

    with pytest.raises(MessageTooLarge) as refused:
        check_size(MAX_MESSAGE_BYTES + 1, 1)

    assert refused.value.detail == "message 1 has 16777217 bytes"
    assert refused.value.details == {"message_index": 1, "limit_bytes": 16_777_216}


def test_a_turn_id_that_no_turn_can_have_is_named() -> None:
    with pytest.raises(InvalidId) as refused:
        check_drafts(drafts(message("m1", "user", "x", turn_id="")))

    assert refused.value.details == {"key": "turn_id", "message_index": 0}


def test_a_message_of_the_services_own_kind_is_named() -> None:
    with pytest.raises(UnexpectedKind) as refused:
        check_drafts(drafts(message("m1", "user", "x", kind="world_state")))

    assert refused.value.detail == "world-state messages are written by the service alone"
    assert refused.value.details == {"message_index": 0, "message_id": "m1"}


def test_messages_of_every_role_pass() -> None:
    check_drafts(
        drafts(
            message("m1", "user", "x", turn_id="t1", kind="skill_instruction"),
            message("a/b", "assistant"),
            message("m3", "tool", result("ghost")),
        )
    )


def test_a_stored_message_is_a_real_item() -> None:
    assert item_of_message(StoredMessage(sequence=4, message=message("m4", "user", "a"))) == user(
        "a", sequence=4
    )
    assert item_of_message(
        StoredMessage(sequence=2, message=message("m2", "assistant", call("c1")))
    ) == assistant(call("c1"), sequence=2)
