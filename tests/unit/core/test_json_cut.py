import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.json_cut import MOST_CHARS, cut_json

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=40)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=12), st.dictionaries(st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=40,
)


def within(limit: int, text: str, location: str = "") -> Any:
    cut = cut_json(text, lambda made: len(made) <= limit, location)
    return None if cut is None else json.loads(cut)


def test_lists_texts_and_objects_lose_their_ends_and_say_so() -> None:
    rows = [{"id": number} for number in range(1_000)]
    found = within(200, json.dumps({"rows": rows, "log": "x" * 5_000}), "; see /a")

    assert found["rows"][0] == {"id": 0}
    assert found["rows"][-1].endswith("items omitted; see /a]")
    assert found["log"].startswith("x")
    assert found["log"].endswith("characters omitted; see /a]")


def test_an_object_of_many_names_tells_how_many_are_left_out() -> None:
    found = within(100, json.dumps({f"name {number}": number for number in range(500)}))

    assert found["…"].startswith("… [")
    assert found["…"].endswith("names omitted]")


@pytest.mark.parametrize(
    "text", ["plain", "7", '"text"', "[1, 2", "[NaN]", "", "[" + "1," * MOST_CHARS + "1]"]
)
def test_what_is_no_list_or_object_is_left_to_others(text: str) -> None:
    assert cut_json(text, lambda made: True) is None


def test_what_can_never_fit_is_left_to_others() -> None:
    assert within(3, json.dumps({"a": "b" * 100})) is None


@given(VALUES.filter(lambda value: isinstance(value, list | dict)), st.integers(2, 300))
def test_what_is_cut_is_json_and_fits(value: Any, limit: int) -> None:
    text = json.dumps(value)
    cut = cut_json(text, lambda made: len(made) <= limit)

    assert cut is None or (len(cut) <= limit and type(json.loads(cut)) is type(value))
    assert cut == cut_json(text, lambda made: len(made) <= limit)
