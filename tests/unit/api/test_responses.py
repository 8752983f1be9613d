"""Answers are spliced from bytes that are made once."""

import pytest

from app.api.body import Body
from app.api.repairs import body_repairs, refuse_large_batch
from app.api.responses import json_response, spliced
from app.core.errors import TooManyMessages


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"{}", b'{"b":[1,2]}'), (b'{"a":1}', b'{"a":1,"b":[1,2]}')],
)
def test_a_member_is_added_without_reading_the_others(before: bytes, after: bytes) -> None:
    assert spliced(before, "b", [b"[1", b",2]"]) == after


def test_an_answer_is_canonical_json() -> None:
    response = json_response({"é": [1.5, None], "/": "\n"})

    assert response.body == '{"é":[1.5,null],"/":"\\n"}'.encode()
    assert response.media_type == "application/json"


def test_a_repair_names_the_message_that_it_is_in() -> None:
    paths = ("/messages/1/content", "/append/0/id", "/messages/7/content", "/metadata/a")

    repairs = body_repairs(Body(value={}, repaired=paths), ["m1", "m2"])

    assert [repair.get("message_id") for repair in repairs] == ["m2", "m1", None, None]
    assert [repair["path"] for repair in repairs] == list(paths)
    assert {repair["code"] for repair in repairs} == {"lone_surrogate_replaced"}


@pytest.mark.parametrize(
    "value", [None, [], {}, {"messages": "x" * 9}, {"messages": [1, 2]}], ids=str
)
def test_what_is_no_large_batch_is_left_to_validation(value: object) -> None:
    refuse_large_batch(value, "messages", 2)


def test_a_large_batch_is_refused_by_its_length() -> None:
    with pytest.raises(TooManyMessages) as refused:
        refuse_large_batch({"messages": [None] * 3}, "messages", 2)

    assert refused.value.details == {"key": "messages", "limit": 2}
