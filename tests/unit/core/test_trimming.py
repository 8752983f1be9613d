import pytest

from app.core.items import Item
from app.core.trimming import KEEP_ALL, Trimming, trim
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    result,
    said,
    stored,
    system,
    tool,
    user,
)

CALL = assistant(call("c1"), call("c2"))
ONE, TWO = tool(result("c1")), tool(result("c2"))
P = (system("sys"), user("0"), system("pin"), CALL, ONE, TWO, user("1"))
FOUR = (system("s"), user("0"), user("1"), user("2"))
ROUND = (system("sys"), user("0"), assistant(call("c1")), tool(result("c1")))
MIDDLE = (user("a"), system("mid"), user("b"), assistant("c"))


def ten(item: Item) -> int:
    """Every message takes ten tokens."""
    del item
    return 10


def trimmed(items: tuple[Item, ...], trimming: Trimming) -> tuple[Item, ...]:
    return trim(items, trimming, ten, COUNTER)


def picked(items: tuple[Item, ...], *indexes: int) -> tuple[Item, ...]:
    return tuple(items[index] for index in indexes)


VIEWS: list[object] = [
    pytest.param(P, None, P, id="CP1", marks=requirement("AW-trim-keeps-all-by-default")),
    pytest.param(P, 0, picked(P, 0, 2), id="CP2", marks=requirement("AW-trim-keep-none")),
    pytest.param(P, 1, picked(P, 0, 2, 6), id="CP3", marks=requirement("AW-trim-keep-last")),
    pytest.param(P, 2, picked(P, 0, 2, 6), id="one result of the round is too few"),
    pytest.param(P, 3, picked(P, 0, 2, 6), id="CP5"),
    pytest.param(P, 4, picked(P, 0, 2, 3, 4, 5, 6), id="CP6"),
    pytest.param(P, 5, P, id="CP7 all"),
    pytest.param(P, 6, P, id="CP7 more than all"),
    pytest.param((), 3, (), id="no message"),
    pytest.param(FOUR, 10, FOUR, id="CP9"),
    pytest.param(FOUR, 0, FOUR[:1], id="CP10", marks=requirement("AW-trim-keep-none")),
    pytest.param(ROUND, 2, picked(ROUND, 0, 2, 3), id="CP11"),
    pytest.param(ROUND, 1, ROUND[:1], id="half a round is none"),
    pytest.param((system("1"), system("2"), user("a")), 0, (system("1"), system("2")), id="CP13"),
    pytest.param(MIDDLE, 1, picked(MIDDLE, 1, 3), id="CP14"),
]


@pytest.mark.parametrize(("items", "keep_last", "view"), VIEWS)
def test_the_last_messages_and_all_system_messages_stay(
    items: tuple[Item, ...], keep_last: int | None, view: tuple[Item, ...]
) -> None:
    trimming = Trimming(keep_last=keep_last)

    assert said(trimmed(items, trimming)) == said(view)
    assert trimmed(trimmed(items, trimming), trimming) == trimmed(items, trimming)


def test_rounds_are_cleaned_where_all_is_kept() -> None:
    items = (user("u"), assistant(call("c1")), user("v"))

    assert trimmed(items, KEEP_ALL) == (items[0], items[2])


TALK = stored(user("1"), assistant("2"), user("3"), CALL, ONE, TWO, user("7"))

BY_TOKENS: list[object] = [
    (9, 0, ()),
    (10, 0, (6,)),
    (39, 0, (6,)),
    (40, 0, (3, 4, 5, 6)),
    (50, 0, (2, 3, 4, 5, 6)),
    (70, 0, (0, 1, 2, 3, 4, 5, 6)),
    (9, 1, (6,)),
    (9, 2, (3, 4, 5, 6)),
    (0, 99, (0, 1, 2, 3, 4, 5, 6)),
]


@pytest.mark.parametrize(("keep_tokens", "least", "kept"), BY_TOKENS)
def test_the_newest_whole_rounds_that_fit_stay(
    keep_tokens: int, least: int, kept: tuple[int, ...]
) -> None:
    trimming = Trimming(keep_tokens=keep_tokens, least_recent=least)

    assert trimmed(TALK, trimming) == picked(TALK, *kept)


def test_what_always_stays_is_charged_first() -> None:
    items = (system("s"), *TALK)

    assert trimmed(items, Trimming(keep_tokens=20)) == picked(items, 0, 7)
    assert trimmed(items, Trimming(keep_tokens=19)) == items[:1]


def test_a_small_message_behind_the_gap_does_not_come_back() -> None:
    items = stored(user("a"), user("b" * 50), user("c"))

    def length(item: Item) -> int:
        return item.facts.tokenizer_tokens

    assert trim(items, Trimming(keep_tokens=10), length, COUNTER) == items[2:]


def test_a_pinned_message_stays_beside_the_last_ones() -> None:
    assert trimmed(TALK, Trimming(keep_last=1, pinned=frozenset({"m1"}))) == picked(TALK, 0, 6)
    assert trimmed(TALK, Trimming(keep_last=0, pinned=frozenset({"m1"}))) == picked(TALK, 0)


@pytest.mark.parametrize("pinned", ["m4", "m5", "m6"])
def test_a_pinned_message_keeps_its_round(pinned: str) -> None:
    trimming = Trimming(keep_last=1, pinned=frozenset({pinned}))

    assert trimmed(TALK, trimming) == picked(TALK, 3, 4, 5, 6)


def test_a_pinned_message_is_charged_before_the_newest() -> None:
    trimming = Trimming(keep_tokens=20, pinned=frozenset({"m1"}))

    assert trimmed(TALK, trimming) == picked(TALK, 0, 6)


def test_an_unknown_pin_changes_nothing() -> None:
    assert trimmed(TALK, Trimming(keep_last=1, pinned=frozenset({"m99"}))) == picked(TALK, 6)


def test_both_limits_hold() -> None:
    assert trimmed(TALK, Trimming(keep_last=1, keep_tokens=70)) == picked(TALK, 6)
    assert trimmed(TALK, Trimming(keep_last=6, keep_tokens=10)) == picked(TALK, 6)
