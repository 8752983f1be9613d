"""Bodies: what is refused before anything is looked at, and what is mended."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.api.body import MAX_DEPTH, decode_body
from app.core.errors import InvalidRequest, MalformedJson, TooDeep

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Surrogates are what is mended, so they have tests of their own.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


def nested(levels: int, innermost: Any, kind: str) -> Any:
    value = innermost
    for _ in range(levels):
        value = [value] if kind == "arrays" else {"a": value}
    return value


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


@settings(max_examples=50)
@given(JSON)
def test_what_is_json_is_read_as_it_is(value: object) -> None:
    raw = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")

    body = decode_body(raw)

    assert body.value == json.loads(raw)
    assert body.repaired == ()


@given(st.binary())
def test_whatever_comes_is_read_or_refused(raw: bytes) -> None:
    with suppress(MalformedJson, TooDeep, InvalidRequest):
        decode_body(raw)


@pytest.mark.parametrize("kind", ["arrays", "objects"])
@pytest.mark.parametrize("innermost", [[], {}, [1], {"a": 1}], ids=str)
def test_a_body_may_have_64_levels(kind: str, innermost: object) -> None:
    deepest = nested(MAX_DEPTH - 1, innermost, kind)

    assert decode_body(encoded(deepest)).value == deepest
    with pytest.raises(TooDeep) as refused:
        decode_body(encoded(nested(MAX_DEPTH, innermost, kind)))
    assert refused.value.details == {"limit": 64}


@pytest.mark.parametrize("scalar", ["1", '"x"', "null", "true", "1.5"])
def test_a_scalar_is_a_body_without_levels(scalar: str) -> None:
    assert decode_body(scalar.encode()).value == json.loads(scalar)


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        (b'"a\xff"', "the body is not UTF-8 at byte 2"),
        (b"NaN", "the body is not JSON: NaN is not a JSON number"),
        (b"[-Infinity]", "the body is not JSON: -Infinity is not a JSON number"),
        (b"[1e400]", "the body is not JSON: 1e400 is out of range"),
        (b"[-1e400]", "the body is not JSON: -1e400 is out of range"),
        (b"{'a': 1}", "the body is not JSON: Expecting property name enclosed in double quotes"),
    ],
    ids=["UTF-8", "NaN", "Infinity", "1e400", "-1e400", "quotes"],
)
def test_what_is_no_json_is_told(raw: bytes, detail: str) -> None:
    with pytest.raises(MalformedJson) as refused:
        decode_body(raw)

    assert refused.value.detail.startswith(detail)


@pytest.mark.parametrize(
    ("raw", "value", "repaired"),
    [
        (r'"\ud800"', "\ufffd", ("",)),
        (r'["a", "\udc88x\uDFFF"]', ["a", "\ufffdx\ufffd"], ("/1",)),
        (r'{"a": {"b/~": ["\uD800"]}}', {"a": {"b/~": ["\ufffd"]}}, ("/a/b~1~0/0",)),
        (r'{"\ud800": 1}', {"\ufffd": 1}, ("",)),
        (r'{"a": {"\ud800": "\ud800"}}', {"a": {"\ufffd": "\ufffd"}}, ("/a", "/a/\ufffd")),
        (r'"\ud83c\udf78"', "🍸", ()),
        (r'"\ud83c\ud83c\udf78"', "\ufffd🍸", ("",)),
        (r'"\\ud800"', r"\ud800", ()),
        (r'"\u0000"', "\0", ()),
    ],
)
def test_halves_of_surrogate_pairs_are_replaced_and_told(
    raw: str, value: object, repaired: tuple[str, ...]
) -> None:
    body = decode_body(raw.encode())

    assert (body.value, body.repaired) == (value, repaired)


def test_two_keys_that_become_one_are_refused() -> None:
    with pytest.raises(InvalidRequest) as refused:
        decode_body(rb'{"a": {"\ud800": 1, "\udfff": 2}}')

    assert refused.value.detail == "two keys of /a become equal"
    assert refused.value.details == {"path": "/a"}


def test_of_two_equal_keys_the_last_counts() -> None:
    assert decode_body(b'{"a": 1, "b": 2, "a": 3}').value == {"a": 3, "b": 2}
