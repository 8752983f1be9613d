"""Trimming, cleaning and cuts over any conversation: paired, stable, and never more than asked."""

from hypothesis import given
from hypothesis import strategies as st

from app.compaction.tail_fold import tail_cut
from app.core.items import Item
from app.core.pairing import pair
from app.core.tool_rounds import clean_tool_rounds
from app.core.trimming import Trimming, always_kept, trim
from tests.properties.conversations import ANYTHING, conversations
from tests.unit.core.builders import COUNTER

CONVERSATIONS = conversations(ANYTHING)
COUNTS = st.one_of(st.none(), st.integers(0, 12))
TRIMMINGS = st.builds(
    Trimming,
    keep_last=COUNTS,
    keep_tokens=st.one_of(st.none(), st.integers(0, 2_000)),
    least_recent=st.integers(0, 3),
    pinned=st.frozensets(st.sampled_from(["m1", "m2", "m3", "m5"]), max_size=2),
)


def size(item: Item) -> int:
    return item.facts.json_bytes


def is_paired(items: tuple[Item, ...]) -> bool:
    """Whether every call has one result and every result one call, each in its own round."""
    pairing = pair(items)
    answers = [slot.answer() for group in pairing.slots.values() for slot in group]
    named = sum(len(item.facts.results) for item in items)
    return (
        not pairing.dropped
        and len(answers) == named
        and all(answer is not None and answer.adjacent for answer in answers)
    )


@given(CONVERSATIONS)
def test_a_cleaned_conversation_is_paired_and_clean(items: tuple[Item, ...]) -> None:
    cleaned = clean_tool_rounds(items, COUNTER)

    assert is_paired(cleaned)
    assert clean_tool_rounds(cleaned, COUNTER) == cleaned


@given(CONVERSATIONS, TRIMMINGS)
def test_a_trimmed_conversation_is_paired_and_trimmed(
    items: tuple[Item, ...], trimming: Trimming
) -> None:
    trimmed = trim(items, trimming, size, COUNTER)

    assert is_paired(trimmed)
    assert trim(trimmed, trimming, size, COUNTER) == trimmed


@given(CONVERSATIONS, st.integers(0, 12))
def test_a_trim_keeps_every_system_message_and_no_more_others_than_asked(
    items: tuple[Item, ...], keep_last: int
) -> None:
    trimmed = trim(items, Trimming(keep_last=keep_last), size, COUNTER)
    always = always_kept(items, frozenset())

    assert len(trimmed) <= len(always) + keep_last
    for index in always:
        # Cleaning may take calls and results out of what no limit takes.
        is_plain = not items[index].facts.calls and not items[index].facts.results
        assert items[index] in trimmed or not is_plain or items[index].role == "tool"


@given(CONVERSATIONS, st.integers(0, 12))
def test_a_cut_goes_to_the_left_alone_and_parts_no_round(
    items: tuple[Item, ...], fold_to: int
) -> None:
    cut = tail_cut(items, min(fold_to, len(items)), "whole_rounds")
    slots = [(index, slot) for index, group in pair(items).slots.items() for slot in group]
    parted = [
        index
        for index, slot in slots
        if (answer := slot.answer()) is not None and index < cut <= answer.item_index
    ]

    assert 0 <= cut <= fold_to
    assert parted == []
