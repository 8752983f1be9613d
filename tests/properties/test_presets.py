"""What holds of every preset, whatever the conversation, and wherever it is compacted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from app.compaction.errors import EmptyConversation, MissingLastUser, NothingToCompact
from app.compaction.record import CompactionPhase
from app.compaction.style import Folded
from app.core.blocks import Audience, Block, Data, Text, text_block
from app.core.content import decode_content
from app.core.engine import PreparedCall, PrepareInput, prepare
from app.core.facts import form_of
from app.core.items import Item
from app.core.user_requests import last_user_request
from app.core.visibility import seen_blocks
from app.policies.presets import PRESETS, PresetPolicy, policy_from
from app.services.profiles import style_of
from tests.api.requests import badly_paired
from tests.properties.conversations import (
    DENSE,
    PAIRABLE,
    REPAIRABLE,
    Message,
    conversations,
)
from tests.requirements import requirement
from tests.unit.core.builders import COUNTER, READ, prepare_input, request_bytes, request_json

SECRET = "for people alone"
READERS: list[Audience] = [None, None, None, ("user",), ("assistant",), ()]
PHASES = st.sampled_from(get_args(CompactionPhase))
TRIMMINGS: list[object] = [
    *["keep_all"] * 4,
    {"keep_last": 0},
    {"keep_last": 2},
    {"keep_last": 4, "pinned": ["m1", "m5"]},
    {"keep_tokens": 100},
    {"keep_tokens": 0, "least_recent": 3},
]


@st.composite
def policies(draw: st.DrawFn, /, **fixed: object) -> PresetPolicy:
    preset = draw(st.sampled_from(sorted(PRESETS)))
    overrides: dict[str, object] = {
        "preset": preset,
        "context_policy": draw(st.sampled_from(TRIMMINGS)),
        "max_tool_result_tokens": draw(st.sampled_from([1, 40, 8_000])),
    }
    if draw(st.booleans()):
        overrides["pairing"] = draw(st.sampled_from(["synthesise", "clean", "fix"]))
    if preset == "awaken":
        overrides["strict_cut"] = draw(st.booleans())
        overrides["compact"] = {"keep_last": draw(st.integers(0, 5))}
    return policy_from({**overrides, **fixed})


@st.composite
def histories(draw: st.DrawFn, chosen: st.SearchStrategy[Message] = REPAIRABLE) -> tuple[Item, ...]:
    """Conversations in which some pieces name their readers."""
    items = draw(conversations(st.one_of(chosen, DENSE)))
    return tuple(with_readers(draw, item) for item in items)


def with_readers(draw: st.DrawFn, item: Item) -> Item:
    blocks = tuple(named(draw, block) for block in decode_content(item.content))
    return item.with_form(form_of(item.role, blocks, COUNTER))


def named(draw: st.DrawFn, block: Block) -> Block:
    if not isinstance(block, Text | Data):
        return block
    audience = draw(st.sampled_from(READERS))
    if isinstance(block, Text) and audience is not None and "assistant" not in audience:
        return replace(text_block(SECRET), audience=audience)
    return replace(block, audience=audience)


def prepared(items: Sequence[Item], policy: PresetPolicy, **more: Any) -> PreparedCall:
    return prepare(input_of(items, policy, **more))


def input_of(items: Sequence[Item], policy: PresetPolicy, **more: Any) -> PrepareInput:
    return replace(prepare_input(*items, tools=(READ,), policy=policy), **more)


def messages(call: PreparedCall) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = request_json(call)["messages"]
    return found


@requirement("GO-7.1-agent-visible-decides")
@given(histories(), policies())
def test_every_request_is_well_paired_and_holds_nothing_for_people_alone(
    items: tuple[Item, ...], policy: PresetPolicy
) -> None:
    call = prepared(items, policy)

    assert badly_paired(messages(call)) == []
    assert SECRET not in request_bytes(call).decode()
    assert b'"audience"' not in request_bytes(call)


@given(histories(), policies())
def test_preparing_again_gives_equal_bytes_with_a_memo_and_without(
    items: tuple[Item, ...], policy: PresetPolicy
) -> None:
    given_ = input_of(items, policy)
    first, remembered, anew = prepare(given_), prepare(given_), prepare(replace(given_, memo={}))

    assert first == remembered == anew
    assert request_bytes(first) == request_bytes(anew)


def appendable(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items that append would take: no id is used again before it has its final result."""
    unresolved: set[str] = set()
    taken: list[Item] = []
    for item in items:
        called = {call.id for call in item.facts.calls}
        answered = [result.id for result in item.facts.results]
        is_known = set(answered) <= unresolved and len(set(answered)) == len(answered)
        if called & unresolved or not is_known:
            continue
        final = {result.id for result in item.facts.results if result.state != "running"}
        unresolved = (unresolved | called) - final
        taken.append(item)
    return tuple(taken)


# What normalize puts in is not cut, so a second preparation may cut it.
@given(
    histories(PAIRABLE).map(appendable),
    policies(context_policy="keep_all", max_tool_result_tokens=8_000),
)
def test_what_was_prepared_is_prepared_as_it_is(
    items: tuple[Item, ...], policy: PresetPolicy
) -> None:
    call = prepared(items, policy)
    again = prepared(call.conversation, policy)

    assert messages(again) == messages(call)


@given(histories(), policies(context_policy="keep_all"))
def test_the_last_request_is_there_with_every_word(
    items: tuple[Item, ...], policy: PresetPolicy
) -> None:
    asked = last_user_request(items)
    if asked is not None:
        assert_said(items[asked], prepared(items, policy))


def assert_said(item: Item, call: PreparedCall) -> None:
    """Every text of a request that the agent reads stands in what users say."""
    texts = [
        block.text
        for block in seen_blocks(decode_content(item.content), "assistant")
        if isinstance(block, Text) and block.text
    ]
    said = [
        block["text"]
        for message in messages(call)
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "text"
    ]
    missing = [text for text in texts if text not in said]

    assert missing == []


@given(histories(), policies(context_policy="keep_all"), PHASES)
def test_wherever_it_is_compacted_the_next_request_is_well_paired_and_holds_the_request(
    items: tuple[Item, ...], policy: PresetPolicy, phase: CompactionPhase
) -> None:
    style = style_of(policy)
    try:
        fold = style.fold(items, phase, frozenset())
        folded = Folded(
            compaction_id="k1",
            items=items[: fold.keep_from],
            replaced_through_sequence=fold.through_sequence or 0,
            phase=phase,
            summary="S",
            reminder="R" if style.reminds else None,
            context=(),
            counter=COUNTER,
        )
        standing = style.replacement(folded)
    except (EmptyConversation, MissingLastUser, NothingToCompact):
        return
    after = (*standing, *items[fold.keep_from :])
    call = prepared(after, policy, is_partial=True)
    asked = last_user_request(items)

    assert badly_paired(messages(call)) == []
    assert style.replacement(folded) == standing
    if asked is not None and (asked >= fold.keep_from or keeps(policy, phase, items[asked])):
        assert_said(items[asked], call)


def keeps(policy: PresetPolicy, phase: CompactionPhase, asked: Item) -> bool:
    """Whether a style promises that a folded request is said again, whole."""
    match policy.folding.style:
        case "openwork" | "codex":
            return True
        case "hidden_history":
            blocks = seen_blocks(decode_content(asked.content), "assistant")
            return phase != "standalone" and any(isinstance(block, Text) for block in blocks)
        case "summary_tail":
            return False
