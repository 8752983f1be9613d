"""Folds that a provider made: one message in their place, and no call without its result."""

import pytest

from app.compaction.provider_fold import ProviderFold, folded_view, folds_something, left_open
from app.compaction.view import WHOLE, View
from app.core.blocks import ProviderOpaque
from app.core.items import Item
from tests.unit.core.builders import assistant, call, result, stored, synthetic, tool, user


def opaque(payload: object) -> ProviderOpaque:
    return ProviderOpaque(type="provider_opaque", driver="d", kind="fold", payload=payload)


ASKING = assistant(call("c1"), call("c2"))
WAITING = assistant(call("c1", state="pending"))
OPEN: list[tuple[str, tuple[Item, ...], int, tuple[int, ...]]] = [
    ("settled rounds are folded", (user("go"), ASKING, tool(result("c1"), result("c2"))), 3, ()),
    ("a call that nothing answered yet stays", (user("go"), ASKING), 2, (2,)),
    (
        "its answered sibling stays with it",
        (user("go"), ASKING, tool(result("c2"))),
        3,
        (2, 3),
    ),
    (
        "a call stays that is answered behind the fold",
        (user("go"), ASKING, tool(result("c1")), tool(result("c2"))),
        3,
        (2, 3),
    ),
    ("a call behind the fold is not folded", (user("go"), ASKING), 1, ()),
    ("a call that was cut off is folded", (ASKING, user("go on")), 2, ()),
    ("a call that waits stays", (WAITING, user("go on")), 2, (1,)),
    (
        "a call that is running stays with what it said",
        (assistant(call("c1")), tool(result("c1", state="running")), user("go on")),
        3,
        (1, 2),
    ),
    (
        "a call that was answered late is folded",
        (WAITING, user("go on"), tool(result("c1"))),
        3,
        (),
    ),
    (
        "a call stays whose late answer is behind the fold",
        (WAITING, user("go on"), tool(result("c1"))),
        2,
        (1,),
    ),
]


@pytest.mark.parametrize(
    ("items", "through", "kept"), [pytest.param(*row[1:], id=row[0]) for row in OPEN]
)
def test_a_call_that_is_open_stays_shown(
    items: tuple[Item, ...], through: int, kept: tuple[int, ...]
) -> None:
    assert left_open(stored(*items), through) == kept


def test_a_call_without_a_place_of_its_own_is_of_the_fold() -> None:
    assert left_open((synthetic("assistant", "provider_fold", call("c1")),), 9) == ()


def test_what_stays_shown_stands_in_front_of_what_follows() -> None:
    items = stored(user("go"), ASKING, tool(result("c2")), user("and?"))
    rewound = View(checkpoint_id="c", ranges=((0, 4),), open_after=8)

    assert folded_view(WHOLE, items[:3], "f", 3) == View(
        checkpoint_id="f", ranges=((1, 2), (2, 3)), open_after=3
    )
    assert folded_view(rewound, items, "f", 3) == View(
        checkpoint_id="f", ranges=((3, 4),), open_after=8
    )


def test_a_fold_takes_a_stored_message_that_is_shown() -> None:
    items = (synthetic("user", "compaction_summary", "so far"), user("and?", sequence=5))

    assert [folds_something(items, through) for through in (4, 5, 6)] == [False, True, True]


def test_equal_folds_have_equal_keys() -> None:
    fold = ProviderFold(through_sequence=3, opaque=opaque({"b": 1, "a": [True]}))

    assert fold.key == ProviderFold(through_sequence=3, opaque=opaque({"b": 1, "a": [True]})).key
    others = [
        ProviderFold(through_sequence=4, opaque=fold.opaque),
        ProviderFold(through_sequence=3, opaque=opaque({"b": 1, "a": [1]})),
    ]
    assert fold.key not in {other.key for other in others}
