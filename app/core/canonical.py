"""Canonical JSON bytes: the one place where the core reads and writes JSON.

Compact UTF-8, keys in the order given, non-ASCII raw, control characters
escaped, `/` not escaped. A value is encoded once and its bytes are kept;
no two JSON libraries agree on the text of a float.

Source: docs/semantics/content.md.
"""

import json
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_encode_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_decode_text = json.JSONDecoder().decode


def encode(value: object) -> bytes:
    """The canonical bytes of `value`.

    Raises:
        ValueError: It holds NaN, an infinity, a lone surrogate or a whole number
            of more than 4 300 digits.
    """
    return _encode_text(value).encode()


def decode(data: bytes) -> Json:
    """The value of bytes that `encode` made."""
    value: Json = _decode_text(data.decode())
    return value
