"""Ids that callers choose.

Source: docs/semantics/messages.md#ids-and-sequences.
"""

import re

from app.core.errors import InvalidId, ReservedId

RESERVED_PREFIXES = ("world-state:", "compaction-", "prep-")
"""Begin the ids of messages that are made here."""

_PREPARED_ID = re.compile(r"prep-[0-9a-f]{32}")
_KEY = re.compile(r"[A-Za-z0-9._~:-]{1,128}")
_MODEL_NAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,256}")
_STORED_MESSAGE_ID = re.compile(r"[A-Za-z0-9._~:/-]{1,512}")
_MESSAGE_ID = re.compile(r"[A-Za-z0-9._~:/-]{1,128}")


def is_key(text: str) -> bool:
    """Whether `text` can be the id of a session or a turn."""
    return _KEY.fullmatch(text) is not None


def is_prepared_id(text: str) -> bool:
    """Whether `text` can be the id of a prepared call."""
    return _PREPARED_ID.fullmatch(text) is not None


def is_stored_message_id(text: str) -> bool:
    """Whether `text` can be the id of a stored message, one made here included."""
    return _STORED_MESSAGE_ID.fullmatch(text) is not None


def is_message_id(text: str) -> bool:
    """Whether `text` can be the id of a caller's message."""
    return _MESSAGE_ID.fullmatch(text) is not None and not text.startswith(RESERVED_PREFIXES)


def is_model_name(text: str) -> bool:
    """Whether `text` can be the name of a model: any visible text, slashes included."""
    return _MODEL_NAME.fullmatch(text) is not None


def check_key(text: str, field: str, message_index: int | None = None) -> None:
    """Refuse an id that a session or a turn cannot have.

    Raises:
        InvalidId: Names the field, and the message that it belongs to.
    """
    if not is_key(text):
        where = {} if message_index is None else {"message_index": message_index}
        raise InvalidId(
            f"{field} must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : -", key=field, **where
        )


def check_message_id(text: str, index: int) -> None:
    """Refuse an id that a caller's message cannot have.

    Raises:
        InvalidId: It holds other characters, none or too many.
        ReservedId: It begins like the ids of messages that are made here.
    """
    if _MESSAGE_ID.fullmatch(text) is None:
        raise InvalidId(
            "a message id must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : / -",
            key="id",
            message_index=index,
        )
    for prefix in RESERVED_PREFIXES:
        if text.startswith(prefix):
            raise ReservedId(
                f"message ids that begin with {prefix!r} are reserved",
                message_index=index,
                message_id=text,
            )
