"""What a medium is and how large, read from a few bytes of its base64 payload.

Only the characters that are looked at are decoded, so the length of a
payload costs nothing. A payload that is not understood is None: nothing
here raises, whatever it is given.

Source: docs/semantics/budget.md#media.
"""

import re
from binascii import a2b_base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

_HEAD_CHARS = 4_096
"""Looked at for line breaks, which base64 may hold."""

_WRAPPED_CHARS = 256 * 1024
"""A payload with line breaks has no addresses, so this much of it is unfolded."""

_EDGE_BYTES = 16 * 1024
"""Read at both ends of a document; a page tree usually stands in one of them."""

_MAX_SEGMENTS = 64
"""Segments of a JPEG that are walked over; cameras write about a dozen before the size."""

_BYTES_PER_PAGE = 32 * 1024
"""A page of a document whose page tree is not found: text pages are smaller, scans larger."""

MAX_PAGES = 1_000
"""No provider takes longer documents, so no claim of a payload counts for more."""

_MAX_PIXELS = 2**31
"""Along one side; formats allow no more, so a larger number is no size."""

_WHITESPACE = re.compile(r"[ \t\r\n]+")
_PAGES_LINEARIZED = re.compile(rb"/Linearized\b[^>]{0,200}?/N\s+(\d{1,7})\b")
_PAGES_COUNTED = re.compile(rb"/Count\s+(\d{1,7})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture; both sides are positive."""

    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A PDF of at least one page."""

    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Audio:
    """A sound."""

    milliseconds: int


Medium: TypeAlias = Image | Document | Audio


class _Payload:
    """The bytes behind base64 text, decoded where they are read."""

    def __init__(self, data: str) -> None:
        self.size = len(data) * 3 // 4
        if _WHITESPACE.search(data[:_HEAD_CHARS]):
            data = _WHITESPACE.sub("", data[:_WRAPPED_CHARS])
        self._data = data

    def read(self, start: int, size: int) -> bytes:
        """At most `size` bytes from `start` on; fewer where it ends or is no base64."""
        first = start // 3 * 4
        last = -(-(start + size) // 3) * 4
        quads = self._data[first:last].translate(_STANDARD).rstrip("=")
        try:
            decoded = a2b_base64(quads + "=" * (-len(quads) % 4))
        except ValueError:
            return b""
        return decoded[start % 3 : start % 3 + size]


_STANDARD = str.maketrans("-_", "+/")
"""From the alphabet that is safe in addresses to the usual one."""


def base64_of_url(url: str) -> str | None:
    """The payload of a `data:` address in base64; None for any other address."""
    head, comma, _ = url[:256].partition(",")
    if not comma or head[:5].lower() != "data:" or not head.lower().endswith(";base64"):
        return None
    return url[len(head) + 1 :]


def medium_of(data: str) -> Medium | None:
    """What base64 text holds, by its first bytes; None where that is not known."""
    payload = _Payload(data)
    magic = payload.read(0, 12)
    for prefix, size_of in _READERS:
        if magic.startswith(prefix):
            return size_of(payload)
    return None


def _png(payload: _Payload) -> Image | None:
    return _image(_big(payload.read(16, 4)), _big(payload.read(20, 4)))


def _gif(payload: _Payload) -> Image | None:
    return _image(_little(payload.read(6, 2)), _little(payload.read(8, 2)))


def _jpeg(payload: _Payload) -> Image | None:
    """The size in the frame header, which stands behind metadata of any length."""
    at = 2
    for _ in range(_MAX_SEGMENTS):
        segment = payload.read(at, 9)
        if len(segment) < 9 or segment[0] != 0xFF:
            return None
        if segment[1] == 0xFF:
            at += 1
        elif segment[1] in _FRAMES:
            return _image(_big(segment[7:9]), _big(segment[5:7]))
        else:
            at += 2 + _big(segment[2:4])
    return None


_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a frame header; the three left out define tables."""


def _riff(payload: _Payload) -> Medium | None:
    match payload.read(8, 4):
        case b"WEBP":
            return _webp(payload)
        case b"WAVE":
            return _wave(payload)
        case _:
            return None


def _webp(payload: _Payload) -> Image | None:
    match payload.read(12, 4):
        case b"VP8X":
            sides = payload.read(24, 6)
            return _image(_little(sides[:3]) + 1, _little(sides[3:]) + 1)
        case b"VP8L":
            bits = _little(payload.read(21, 4))
            return _image((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 ":
            sides = payload.read(26, 4)
            return _image(_little(sides[:2]) & 0x3FFF, _little(sides[2:]) & 0x3FFF)
        case _:
            return None


def _wave(payload: _Payload) -> Audio | None:
    """The length by the byte rate of a format chunk that comes first, as it nearly always does."""
    bytes_per_second = _little(payload.read(28, 4))
    if payload.read(12, 4) != b"fmt " or bytes_per_second == 0:
        return None
    return Audio(milliseconds=payload.size * 1_000 // bytes_per_second)


def _pdf(payload: _Payload) -> Document:
    """The pages by the file's own count at either end, else by its size."""
    head = payload.read(0, _EDGE_BYTES)
    linearized = _PAGES_LINEARIZED.search(head)
    if linearized:
        counts = [int(linearized[1])]
    else:
        tail = payload.read(max(0, payload.size - _EDGE_BYTES), _EDGE_BYTES)
        counts = [int(count) for count in _PAGES_COUNTED.findall(head + b"\n" + tail)]
    pages = max(counts, default=0) or -(-payload.size // _BYTES_PER_PAGE)
    return Document(pages=min(MAX_PAGES, max(1, pages)))


_READERS: tuple[tuple[bytes, Callable[[_Payload], Medium | None]], ...] = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"\xff\xd8\xff", _jpeg),
    (b"GIF8", _gif),
    (b"RIFF", _riff),
    (b"%PDF-", _pdf),
)


def _image(width: int, height: int) -> Image | None:
    if not (0 < width < _MAX_PIXELS and 0 < height < _MAX_PIXELS):
        return None
    return Image(width=width, height=height)


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
