"""Documents that are text: as some providers take them.

Source: docs/semantics/encoders.md#media.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping

from app.core.blocks import Data
from app.core.text import is_blank
from app.encoders.media import media_type, payload

TEXT_TYPES: Mapping[str, str] = {
    "text/plain": "txt",
    "text/markdown": "md",
    "text/csv": "csv",
    "text/html": "html",
}
"""Documents that are text, with the endings of their names."""


def decoded_text(data: Data) -> str | None:
    """The text of a document in the message itself; None for any other medium, and for no text."""
    inside = payload(data)
    if inside is None or media_type(data) not in TEXT_TYPES:
        return None
    try:
        text = b64decode(inside, validate=True).decode()
    except (Base64Error, UnicodeDecodeError):
        return None
    return None if is_blank(text) else text
