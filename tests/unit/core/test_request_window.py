from collections.abc import Mapping

import pytest

from app.core.items import Item
from app.core.request_window import MOST_MESSAGES, AnchoredWindow, RequestParts, shown_items
from app.core.trimming import KEEP_ALL, Trimming
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    result,
    said,
    system,
    tool,
    user,
)

TALK = tuple(user(f"message {number}") for number in range(10))
SUMMARY = system("Summary of earlier conversation: s")
BRIDGE = user("bridge")

WINDOWS: list[object] = [
    pytest.param(2, 10, 10, 2, id="W1"),
    pytest.param(2, 10, 13, 5, id="W2"),
    pytest.param(2, 10, 9, None, id="W3"),
    pytest.param(MOST_MESSAGES, 1, 1, MOST_MESSAGES, id="the largest number"),
    pytest.param(MOST_MESSAGES, 1, 2, None, id="W5"),
    pytest.param(0, 10, 12, 2, id="W6"),
    pytest.param(0, 10, 10, 0, id="nothing behind the fold"),
]


@pytest.mark.parametrize(("keep_last", "then", "now", "effective"), WINDOWS)
def test_a_window_grows_from_its_first_message(
    keep_last: int, then: int, now: int, effective: int | None
) -> None:
    window = AnchoredWindow(keep_last=keep_last, conversation_len=then)

    assert window.effective_keep(now) == effective


def shown(
    *transcript: Item,
    instructions: Item | None = None,
    prelude: Mapping[str, tuple[Item, ...]] | None = None,
    trimming: Trimming = KEEP_ALL,
    window: AnchoredWindow | None = None,
) -> list[object]:
    parts = RequestParts(
        instructions=instructions,
        prelude=prelude or {},
        transcript=transcript,
        trimming=trimming,
        window=window,
    )
    return list(said(shown_items(parts, lambda item: item.facts.json_bytes, COUNTER)))


def test_CP17_the_prelude_stands_between_instructions_and_transcript() -> None:
    asked, helpful, recalled = user("hi"), system("be helpful"), system("recalled")

    assert shown(asked, instructions=helpful, prelude={"memory": (recalled,)}) == said(
        [helpful, recalled, asked]
    )


def test_CP18_without_instructions_the_transcript_stands_alone() -> None:
    assert shown(*TALK[:5]) == said(TALK[:5])


def test_producers_stand_in_the_order_of_their_names() -> None:
    prelude = {"b": (system("b"),), "a": (system("a1"), system("a2"))}

    assert shown(prelude=prelude) == said([system("a1"), system("a2"), system("b")])


@requirement("AW-dynamic-view-after-a-fold")
@pytest.mark.parametrize(("count", "first"), [(8, 6), (10, 6)])
def test_behind_a_fold_stand_summary_bridge_and_tail(count: int, first: int) -> None:
    window = AnchoredWindow(keep_last=2, conversation_len=8)
    view = shown(
        *TALK[:count],
        instructions=system("i"),
        prelude={"compact": (SUMMARY, BRIDGE)},
        window=window,
    )

    assert view == said([system("i"), SUMMARY, BRIDGE, *TALK[first:count]])


def test_a_window_of_another_conversation_shows_all_of_this_one() -> None:
    window = AnchoredWindow(keep_last=2, conversation_len=11)

    assert shown(*TALK, window=window) == said(TALK)


def test_half_a_round_in_the_prelude_moves_no_window() -> None:
    window = AnchoredWindow(keep_last=2, conversation_len=10)
    halves = (SUMMARY, tool(result("c1")), assistant(call("c2")))

    assert shown(*TALK, prelude={"compact": halves}, window=window) == said([SUMMARY, *TALK[8:]])


@requirement("AW-two-independent-controls")
def test_trimming_and_window_hold_together_and_each_alone() -> None:
    window = AnchoredWindow(keep_last=4, conversation_len=10)
    prelude = {"compact": (SUMMARY, BRIDGE)}
    both = shown(*TALK, prelude=prelude, window=window, trimming=Trimming(keep_last=5))

    assert both == said([SUMMARY, BRIDGE, *TALK[6:]])
    assert shown(*TALK, window=window) == said(TALK[6:])
    assert shown(*TALK, trimming=Trimming(keep_last=5)) == said(TALK[5:])


def test_system_messages_of_the_transcript_outlive_the_window() -> None:
    items = (system("mid"), *TALK)

    assert shown(*items, window=AnchoredWindow(keep_last=2, conversation_len=11)) == said(
        [system("mid"), *TALK[8:]]
    )
