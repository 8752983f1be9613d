import pytest

from app.core.canonical import Json
from app.core.debug_form import debug_object, debug_value

VALUES: list[object] = [
    pytest.param(None, "Null", id="null"),
    pytest.param(True, "Bool(true)", id="true"),
    pytest.param(1, "Number(1)", id="a whole number"),
    pytest.param(1.5, "Number(1.5)", id="a fraction"),
    pytest.param("a", 'String("a")', id="a text"),
    pytest.param('"\\\n\t\r\0', r'String("\"\\\n\t\r\0")', id="escapes"),
    pytest.param("\x07é\x7f", r'String("\u{7}é\u{7f}")', id="control characters"),
    pytest.param([], "Array []", id="an empty list"),
    pytest.param([1, ["a"]], 'Array [Number(1), Array [String("a")]]', id="lists"),
    pytest.param({"a": {"b": 1}}, 'Object {"a": Object {"b": Number(1)}}', id="objects"),
]


@pytest.mark.parametrize(("value", "form"), VALUES)
def test_a_value_has_the_word_of_its_kind(value: Json, form: str) -> None:
    assert debug_value(value) == form


def test_arguments_are_a_map_in_the_order_given() -> None:
    assert debug_object({"b": 1, "a": "x"}) == '{"b": Number(1), "a": String("x")}'
