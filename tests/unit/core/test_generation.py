import pytest

from app.core.generation import extra_fields, merged


@pytest.mark.parametrize(
    ("session", "call", "expected"),
    [
        ({}, {}, {}),
        ({"top_p": 0.5}, {}, {"top_p": 0.5}),
        ({"temperature": 1, "stop": ["a"]}, {"temperature": 0}, {"stop": ["a"], "temperature": 0}),
        ({"temperature": 1}, {"temperature": None}, {}),
        ({"temperature": None}, {}, {}),
        ({"thinking": {"mode": "enabled"}}, {"thinking": {}}, {"thinking": {}}),
    ],
)
def test_a_call_replaces_the_fields_it_names_and_null_removes_one(
    session: dict[str, object], call: dict[str, object], expected: dict[str, object]
) -> None:
    assert merged(session, call) == expected


def test_the_order_of_the_arguments_does_not_matter() -> None:
    one = merged({"b": 1, "a": 2}, {"d": 3, "c": 4})
    other = merged({"a": 2, "b": 1}, {"c": 4, "d": 3})

    assert list(one) == list(other) == ["a", "b", "c", "d"]


def test_neither_argument_is_changed() -> None:
    session: dict[str, object] = {"temperature": 1}
    call: dict[str, object] = {"temperature": None}
    merged(session, call)

    assert (session, call) == ({"temperature": 1}, {"temperature": None})


def test_what_is_not_always_in_a_request_is_extra() -> None:
    generation = {"stop": [], "temperature": 1, "thinking": {}, "tool_choice": "auto", "top_p": 1}

    assert extra_fields(generation) == {"stop": [], "tool_choice": "auto"}
