import math

import pytest

from app.core import canonical


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ({"b": 1, "a": [True, False, None]}, b'{"b":1,"a":[true,false,null]}'),
        ("a/b", b'"a/b"'),
        ('say "no" \\', rb'"say \"no\" \\"'),
        ("\n\t\r\b\f", rb'"\n\t\r\b\f"'),
        ("\x00\x01\x1f", rb'"\u0000\u0001\u001f"'),
        ("\x7f\x85\u2028", '"\x7f\x85\u2028"'.encode()),
        ("é中😀", '"é中😀"'.encode()),
        ([0.1, 1e21, -0.0, 2.0], b"[0.1,1e+21,-0.0,2.0]"),
        (2**70, b"1180591620717411303424"),
    ],
)
def test_values_become_compact_utf8_json_and_come_back(value: object, encoded: bytes) -> None:
    assert canonical.encode(value) == encoded
    assert canonical.decode(encoded) == value


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="Out of range float values"):
        canonical.encode({"payload": number})


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        canonical.encode("a\ud800")


def test_a_surrogate_pair_and_the_six_characters_of_an_escape_are_different_texts() -> None:
    assert canonical.decode(rb'"\ud83c\udf78"') == "\N{COCKTAIL GLASS}"
    assert canonical.encode("\\u0000") == rb'"\\u0000"'
    assert canonical.encode("\0") == rb'"\u0000"'


def test_the_order_of_keys_is_kept_both_ways() -> None:
    decoded = canonical.decode(b'{"z":{"b":1,"a":2},"a":3}')

    assert canonical.encode(decoded) == b'{"z":{"b":1,"a":2},"a":3}'
