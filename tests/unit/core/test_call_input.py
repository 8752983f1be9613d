import pytest

from app.core.call_input import NO_ARGUMENTS, NOT_AN_OBJECT, call_arguments
from app.core.json_text import MAX_DEPTH, json_object, parsed_json
from tests.unit.core.builders import call

DEEP = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH


@pytest.mark.parametrize("text", ["", " \n", "null"])
def test_a_blank_input_and_null_are_no_arguments(text: str) -> None:
    assert call_arguments(call("c1", input=text)) is NO_ARGUMENTS


@pytest.mark.parametrize(
    "text", ['{"a":', "[1]", "1", '"a"', '{"a":NaN}', '{"a":"\\ud800"}', f'{{"a":{DEEP}}}']
)
def test_what_is_no_object_is_no_arguments_either(text: str) -> None:
    assert call_arguments(call("c1", input=text)) is NOT_AN_OBJECT


def test_arguments_keep_their_order() -> None:
    arguments = call_arguments(call("c1", input='{"b":1,"a":[]}'))

    assert arguments == {"b": 1, "a": []}
    assert isinstance(arguments, dict)
    assert list(arguments) == ["b", "a"]


def test_json_is_read_up_to_a_depth() -> None:
    assert json_object(DEEP) is not None
    assert json_object(f'{{"a":{DEEP}}}') is None
    assert parsed_json("[" * 100_000) is None


def test_brackets_in_strings_are_no_depth() -> None:
    assert json_object('{"a":"' + "[" * 100 + '"}') == {"a": "[" * 100}


def test_text_that_was_cut_off_inside_a_string_of_escapes_is_gone_through_once() -> None:
    # Were every quotation mark the beginning of another search, this would not come to an end.
    assert parsed_json('{"a": "' + '\\"' * 200_000) is None
