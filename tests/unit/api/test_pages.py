"""Cursors: opaque, made by one list, and harmless where somebody made them up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.api.pages import decode_cursor, encode_cursor
from app.core.errors import InvalidCursor

PLACES = (
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
)


@settings(max_examples=50)
@given(st.lists(PLACES, min_size=1))
def test_a_cursor_holds_a_position(position: list[str | int | float]) -> None:
    cursor = encode_cursor("list", position)

    assert decode_cursor("list", cursor) == position
    assert cursor.isascii()
    assert not set(cursor) & set("+/=&")


def test_a_cursor_serves_the_list_that_made_it() -> None:
    with pytest.raises(InvalidCursor) as refused:
        decode_cursor("sessions", encode_cursor("messages", [1]))

    assert refused.value.details == {"cursor": encode_cursor("messages", [1])}


@given(st.text(max_size=40))
def test_a_text_that_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor("list", text)


@pytest.mark.parametrize("position", [[True], [None], [[1]], [{}], []], ids=str)
def test_a_position_is_made_of_texts_and_numbers(position: list[str]) -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor("list", encode_cursor("list", position))


def test_a_refusal_repeats_the_beginning_of_a_long_cursor() -> None:
    with pytest.raises(InvalidCursor) as refused:
        decode_cursor("list", "a" * 5_000)

    assert refused.value.details == {"cursor": "a" * 100}
