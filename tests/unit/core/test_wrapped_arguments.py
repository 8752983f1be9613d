import pytest

from app.core.blocks import ToolCall
from app.core.items import Item
from app.core.request_copy import RequestCopy
from app.core.wrapped_arguments import wrap_arguments
from app.policies.shaping import Shaping
from tests.unit.core.builders import assistant, call, copy_of, said, step_context, stored, user

WRAP = step_context(shaping=Shaping(invalid_arguments="wrap"))


def inputs(copy: RequestCopy) -> list[str]:
    return [
        block.input
        for _, blocks in said(copy.items)
        for block in blocks
        if isinstance(block, ToolCall)
    ]


def asked(*texts: str) -> Item:
    return assistant(*(call(f"c{at}", input=text) for at, text in enumerate(texts)))


@pytest.mark.parametrize(
    ("text", "wrapped"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ("", "{}"),
        ('{"a": ', '{"_raw":"{\\"a\\": "}'),
        ("[1]", '{"_raw":"[1]"}'),
        ('{"a": NaN}', '{"_raw":"{\\"a\\": NaN}"}'),
        ("null", '{"_raw":"null"}'),
    ],
)
def test_arguments_that_are_no_object_stand_in_one(text: str, wrapped: str) -> None:
    copy = wrap_arguments(copy_of(*stored(user("q"), asked(text))), WRAP)

    assert inputs(copy) == [wrapped]
    assert inputs(wrap_arguments(copy, WRAP)) == [wrapped]


def test_each_is_told_and_the_others_are_as_they_were() -> None:
    copy = wrap_arguments(copy_of(*stored(user("q"), asked("{}", "broken", "[]"))), WRAP)

    assert inputs(copy) == ["{}", '{"_raw":"broken"}', '{"_raw":"[]"}']
    assert [(repair.code, repair.message_id, repair.call_id) for repair in copy.repairs] == [
        ("arguments_wrapped", "m2", "c1"),
        ("arguments_wrapped", "m2", "c2"),
    ]


def test_unless_it_is_asked_for_nothing_is_wrapped() -> None:
    copy = copy_of(*stored(user("q"), asked("broken")))

    assert wrap_arguments(copy, step_context()) is copy
