"""Pages of lists: bounds, order and opaque cursors.

Source: docs/api.md#pages.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from fastapi import Query

from app.core import canonical
from app.core.errors import InvalidCursor

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 500

OrderIn: TypeAlias = Literal["asc", "desc"]
LimitIn = Annotated[int, Query(ge=1, le=LARGEST_LIMIT, description="Items on a page.")]
CursorIn = Annotated[str | None, Query(description="`next_cursor` of the page before.")]


def encode_cursor(list_name: str, position: Sequence[str | int | float]) -> str:
    """The cursor of a position in a list."""
    return urlsafe_b64encode(canonical.encode([list_name, *position])).decode().rstrip("=")


def decode_cursor(list_name: str, cursor: str) -> list[str | int | float]:
    """The position of a cursor.

    Raises:
        InvalidCursor: It was not made for that list.
    """
    padded = cursor + "=" * (-len(cursor) % 4)
    try:
        parts = canonical.decode(urlsafe_b64decode(padded.encode("ascii")))
    except (Base64Error, ValueError, RecursionError) as error:
        raise _invalid(cursor) from error
    if not isinstance(parts, list) or len(parts) < 2 or parts[0] != list_name:
        raise _invalid(cursor)
    position = [
        part
        for part in parts[1:]
        if isinstance(part, str | int | float) and not isinstance(part, bool)
    ]
    if len(position) != len(parts) - 1:
        raise _invalid(cursor)
    return position


def _invalid(cursor: str) -> InvalidCursor:
    return InvalidCursor("the cursor was not made by this list", cursor=cursor[:100])
