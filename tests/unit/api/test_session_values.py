"""How values of a session are merged and compared."""

import pytest

from app.services.sessions import merge_patch, same_json


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_examples_of_RFC_7396_hold(target: object, patch: object, result: object) -> None:
    assert merge_patch(target, patch) == result


def test_a_merge_leaves_its_target_alone() -> None:
    target = {"a": {"b": 1}}

    merge_patch(target, {"a": {"b": None}})

    assert target == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("left", "right"),
    [({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([1, [2]], [1.0, [2]]), (True, True), (None, None)],
)
def test_equal_values_are_the_same(left: object, right: object) -> None:
    assert same_json(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, True),
        (0, False),
        ({"a": [1]}, {"a": [True]}),
        ([1, 2], [1]),
        ({"a": 1}, {"b": 1}),
        ({"a": None}, {}),
        ("1", 1),
        ([], {}),
    ],
    ids=str,
)
def test_different_values_are_not(left: object, right: object) -> None:
    assert not same_json(left, right)
    assert not same_json(right, left)
