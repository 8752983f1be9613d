"""What holds of every prepared call, whatever the conversation."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import RegionTokens
from app.core.engine import PreparedCall, PrepareInput, prepare
from app.core.errors import ContextError, SystemMessageInConversation, UnsupportedUserData
from app.core.facts import Form, form_of
from app.core.items import Item
from app.core.prefix import element_digests, fingerprint, neutral_elements, repeats
from app.core.request_copy import PruneBoundary
from app.policies.presets import policy_from
from tests.properties.conversations import (
    ANYTHING,
    DENSE,
    REPAIRABLE,
    Message,
    as_stored,
    conversations,
)
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    PROFILE,
    READ,
    TEXT_ONLY,
    prepare_input,
    request_bytes,
    request_json,
    said,
)


@st.composite
def inputs(draw: st.DrawFn, chosen: st.SearchStrategy[Message] = REPAIRABLE) -> PrepareInput:
    limits = {
        "max_tool_result_tokens": draw(st.sampled_from([1, 31, 40, 100, 8_000])),
        "prune_tool_result_chars": draw(st.sampled_from([8, 300, 8_192])),
    }
    boundary = PruneBoundary(
        through_sequence=draw(st.none() | st.integers(0, 10)),
        spill_directory=draw(st.sampled_from([None, "/spill/session"])),
    )
    return prepare_input(
        *draw(conversations(chosen)),
        tools=(READ,),
        profile=draw(st.sampled_from([PROFILE, PROFILE, TEXT_ONLY])),
        policy=policy_from(limits),
        boundary=boundary,
    )


def has_user_media(item: Item) -> bool:
    return item.role == "user" and item.kind == "normal" and item.facts.has_data


def is_sendable(given: PrepareInput) -> bool:
    return given.profile.accepts_data_blocks or not any(map(has_user_media, given.items))


SENDABLE = inputs().filter(is_sendable)


def expected_refusal(given: PrepareInput) -> type[ContextError] | None:
    if not is_sendable(given):
        return UnsupportedUserData
    has_system = any(item.role == "system" for item in given.items)
    return SystemMessageInConversation if has_system else None


@given(inputs(ANYTHING))
def test_prepare_refuses_system_messages_and_media_of_users_and_nothing_else(
    given: PrepareInput,
) -> None:
    try:
        prepare(given)
        refusal = None
    except ContextError as error:
        refusal = type(error)

    assert refusal is expected_refusal(given)


@requirement("OW-4.2-results-follow-their-calls")
@given(SENDABLE)
def test_every_call_is_followed_by_its_result_and_no_result_stands_alone(
    given: PrepareInput,
) -> None:
    waiting: list[tuple[str, str]] = []
    for message in request_json(prepare(given))["messages"]:
        blocks: list[dict[str, Any]] = message["content"]
        if message["role"] == "tool":
            (result,) = blocks
            assert (result["id"], result["name"]) == waiting.pop(0)
        else:
            assert waiting == []
            waiting = [(block["id"], block["name"]) for block in blocks if is_call(block)]
    assert waiting == []


def is_call(block: dict[str, Any]) -> bool:
    return bool(block["type"] == "tool_call")


@requirement(
    "OW-10-same-history-same-bytes",
    "OW-4.2-synthesised-bytes-are-stable",
    "OW-4.2-stored-messages-untouched",
    "OW-1-regions-never-change-their-source",
)
@given(SENDABLE)
def test_preparing_again_gives_equal_bytes_with_a_memo_and_without(given: PrepareInput) -> None:
    before = said(given.items)
    first, remembered = prepare(given), prepare(given)
    anew = prepare(replace(given, memo={}))

    assert first == remembered == anew
    assert request_bytes(first) == request_bytes(remembered) == request_bytes(anew)
    assert said(given.items) == before


@given(SENDABLE)
def test_the_facts_of_what_is_sent_are_those_of_its_bytes(given: PrepareInput) -> None:
    for item in prepare(given).conversation:
        ((role, blocks),) = said([item])

        assert Form(content=item.content, facts=item.facts) == form_of(role, blocks, COUNTER)


@requirement("OW-11-gap-budget-equals-a-re-measurement", "OW-7.1-measures-what-is-sent")
@given(SENDABLE)
def test_budget_and_fingerprint_equal_a_new_measurement_of_the_request(
    given: PrepareInput,
) -> None:
    call = prepare(given)
    elements = list(map(compact_size, request_json(call)["messages"]))
    made = fingerprint(neutral_elements(call))

    assert call.budget.estimate == remeasured(request_bytes(call))
    assert (made.message_count, made.message_bytes) == (len(elements), sum(elements))


def remeasured(body: bytes) -> RegionTokens:
    request = json.loads(body)
    sizes = {"system": 0, "conversation": 0}
    for message in request["messages"]:
        for block in message["content"]:
            block.pop("artifacts", None)
        region = "system" if message["role"] == "system" else "conversation"
        sizes[region] += compact_size(message["content"])
    return RegionTokens(
        system_context=-(-sizes["system"] // 4),
        conversation=-(-sizes["conversation"] // 4),
        tool_surface=-(-compact_size(request["tools"]) // 4),
    )


def compact_size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


@st.composite
def appends(draw: st.DrawFn) -> tuple[PrepareInput, PrepareInput]:
    """An input and the same with one more message, all of them stored."""
    given = draw(SENDABLE)
    messages = draw(st.lists(st.one_of(DENSE, DENSE, REPAIRABLE), min_size=1, max_size=10))
    items = as_stored(messages)
    return replace(given, items=items[:-1]), replace(given, items=items)


def both_sendable(pair: tuple[PrepareInput, PrepareInput]) -> bool:
    return is_sendable(pair[1])


@given(appends().filter(both_sendable))
def test_appending_keeps_what_was_sent_unless_a_result_moves_in(
    pair: tuple[PrepareInput, PrepareInput],
) -> None:
    before, after = map(prepare, pair)
    old, new = element_digests(before), element_digests(after)
    moved = [index for index, element in enumerate(old) if new[index] != element]
    given_way = [sent_at(before, index).facts.results[0] for index in moved]
    arrived = {result.id for result in pair[1].items[-1].facts.results}

    assert {result.id for result in given_way} <= arrived
    assert {result.state for result in given_way} <= {"running", "interrupted"}


def sent_at(call: PreparedCall, index: int) -> Item:
    return call.conversation[index - len(call.surface.system)]


@given(appends().filter(both_sendable))
def test_a_call_that_repeats_the_one_before_holds_all_of_its_messages(
    pair: tuple[PrepareInput, PrepareInput],
) -> None:
    before, after = map(prepare, pair)
    previous = fingerprint(neutral_elements(before))
    old, new = element_digests(before), element_digests(after)
    is_repeated = repeats(after, previous, len(pair[0].items))

    assert is_repeated is (new[: len(old)] == old)
    if is_repeated:
        assert fingerprint(neutral_elements(after), previous) == fingerprint(
            neutral_elements(after)
        )
