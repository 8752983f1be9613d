"""Text rules that must not depend on Python's own idea of a space or a line.

Source: docs/semantics/text.md.
"""

import unicodedata

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space property; `str.strip()` also strips U+001C to U+001F."""

_WHITE_SPACE = frozenset(WHITE_SPACE)


def trim(text: str) -> str:
    """`text` without leading and trailing White_Space."""
    return text.strip(WHITE_SPACE)


def is_blank(text: str) -> bool:
    """Whether `text` holds nothing but White_Space."""
    return not trim(text)


def collapse_white_space(text: str) -> str:
    """`text` trimmed, with every inner run of White_Space as one space."""
    words: list[str] = []
    start = -1
    for index, character in enumerate(text):
        if character in _WHITE_SPACE:
            if start >= 0:
                words.append(text[start:index])
                start = -1
        elif start < 0:
            start = index
    if start >= 0:
        words.append(text[start:])
    return " ".join(words)


def is_control(character: str) -> bool:
    """Whether a character is in Unicode's category Cc."""
    return unicodedata.category(character) == "Cc"


def escape_markup(text: str) -> str:
    """`text` that can neither open a tag nor start a line.

    `&`, `<` and `>` become entities, LF and CR the two characters of their
    escapes, any other control character U+FFFD. Quotes stay.
    """
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    known = _ESCAPES.get(character)
    if known is not None:
        return known
    return "\ufffd" if is_control(character) else character


_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "\\n", "\r": "\\r"}


def prefix_within(encoded: bytes, limit_bytes: int) -> bytes:
    """The longest prefix of UTF-8 bytes that fits and ends between characters."""
    end = min(max(limit_bytes, 0), len(encoded))
    while 0 < end < len(encoded) and _continues(encoded[end]):
        end -= 1
    return encoded[:end]


def suffix_within(encoded: bytes, limit_bytes: int) -> bytes:
    """The longest suffix of UTF-8 bytes that fits and starts between characters."""
    start = max(0, len(encoded) - max(limit_bytes, 0))
    while start < len(encoded) and _continues(encoded[start]):
        start += 1
    return encoded[start:]


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80
