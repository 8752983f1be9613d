"""Pages of lists: bounds, order and opaque cursors.

Source: docs/api.md#pages.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from app.core import canonical
from app.core.errors import InvalidCursor

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 500

OrderIn: TypeAlias = Literal["asc", "desc"]


class PageQuery(BaseModel):
    """A page of a list without filters."""

    model_config = ConfigDict(extra="forbid")

    order: OrderIn = "asc"
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT)


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


def decode_ordinal(list_name: str, cursor: str) -> int:
    """The place in a list that is ordered by whole numbers.

    Raises:
        InvalidCursor: It was not made for that list.
    """
    match decode_cursor(list_name, cursor):
        case [int() as place] if 0 <= place < 2**63:
            return place
    raise _invalid(cursor)


def _invalid(cursor: str) -> InvalidCursor:
    return InvalidCursor("the cursor was not made by this list", cursor=cursor[:100])
