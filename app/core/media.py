"""What media costs: by its size, and by the rule of who bills it.

Rules are data. A medium whose size is not known, behind an address or a
file id, costs the same under each of them.

Source: docs/semantics/budget.md#media.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from app.core.blocks import Base64Source, Data, FileIdSource, UrlSource
from app.core.media_header import Audio, Document, Image, base64_of_url, medium_of

UNKNOWN_MEDIA_TOKENS = 1_600
"""Where the size is not known: the most that Anthropic charges for an image."""

MediaRule: TypeAlias = Literal["anthropic", "openai", "openai_patches", "gemini", "bytes"]

DEFAULT_MEDIA_RULE: MediaRule = "anthropic"
"""For models whose profile names no rule: by area, so it is never far off for any of them."""

_TEXT_TYPES = ("text/", "application/json", "application/xml")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """An image is shrunk to fit, cut into squares, and each of them has a price."""

    longest_px: int
    """The longer side is shrunk to this first."""
    shortest_px: int | None
    """Then the shorter one to this. None: it is left alone."""
    square_px: int
    square_tokens: int
    base_tokens: int
    most_squares: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Area:
    """An image is shrunk to fit, and its pixels have a price."""

    longest_px: int
    pixels_per_token: int
    most_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crops:
    """A small image is one crop, a larger one is cut by a unit that depends on its shape."""

    longest_px: int
    single_px: int
    least_unit_px: int
    most_unit_px: int
    crop_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prices:
    """What one provider charges."""

    image: _Grid | _Area | _Crops
    page_tokens: int
    """Of a document, its text included."""
    second_tokens: int
    """Of a sound."""


_PRICES = MappingProxyType(
    {
        "anthropic": _Prices(
            image=_Area(longest_px=1_568, pixels_per_token=750, most_tokens=1_600),
            page_tokens=3_000,
            second_tokens=10,
        ),
        "openai": _Prices(
            image=_Grid(
                longest_px=2_048,
                shortest_px=768,
                square_px=512,
                square_tokens=170,
                base_tokens=85,
            ),
            page_tokens=1_500,
            second_tokens=10,
        ),
        "openai_patches": _Prices(
            image=_Grid(
                longest_px=2_048,
                shortest_px=None,
                square_px=32,
                square_tokens=1,
                base_tokens=0,
                most_squares=1_536,
            ),
            page_tokens=1_500,
            second_tokens=10,
        ),
        "gemini": _Prices(
            image=_Crops(
                longest_px=3_072,
                single_px=384,
                least_unit_px=256,
                most_unit_px=768,
                crop_tokens=258,
            ),
            page_tokens=258,
            second_tokens=32,
        ),
    }
)
"""By the providers' own documentation. Anthropic names 1 500 to 3 000 tokens for the text of a
page, OpenAI bills its text and its picture. A second of sound is 10 tokens for Codex and 32 for
Gemini."""


def media_basis(rule: MediaRule) -> str:
    """How media was counted, for the basis of a counter."""
    return f"media/2 {rule}, {UNKNOWN_MEDIA_TOKENS} tokens where the size is unknown"


def media_tokens(block: Data, rule: MediaRule) -> int:
    """Tokens of a data block; positive and never an error, whatever the payload holds."""
    data, media_type = _payload(block)
    if data is None:
        return UNKNOWN_MEDIA_TOKENS
    if rule == "bytes":
        return _quarter(len(data))
    medium = medium_of(data)
    prices = _PRICES[rule]
    match medium:
        case Image():
            return _image_tokens(medium, prices.image)
        case Document():
            return medium.pages * prices.page_tokens
        case Audio():
            return max(1, -(-medium.milliseconds * prices.second_tokens // 1_000))
        case None if media_type.lower().startswith(_TEXT_TYPES):
            return _quarter(len(data) * 3 // 4)
        case _:
            return UNKNOWN_MEDIA_TOKENS


def _payload(block: Data) -> tuple[str | None, str]:
    match block.source:
        case Base64Source(data=data, media_type=media_type):
            return data, media_type
        case UrlSource(url=url, media_type=media_type):
            return base64_of_url(url), media_type
        case FileIdSource():
            return None, ""


def _quarter(size_bytes: int) -> int:
    """Tokens of text that the model reads, or of a payload that is billed as text."""
    return max(1, -(-size_bytes // 4))


def _image_tokens(image: Image, price: _Grid | _Area | _Crops) -> int:
    width, height = _shrunk(
        image.width, image.height, max(image.width, image.height), price.longest_px
    )
    match price:
        case _Area():
            return min(price.most_tokens, -(-width * height // price.pixels_per_token))
        case _Grid():
            if price.shortest_px is not None:
                width, height = _shrunk(width, height, min(width, height), price.shortest_px)
            squares = _squares(width, height, price.square_px)
            if price.most_squares is not None:
                squares = min(squares, price.most_squares)
            return price.base_tokens + squares * price.square_tokens
        case _Crops():
            if max(width, height) <= price.single_px:
                return price.crop_tokens
            unit = min(price.most_unit_px, max(price.least_unit_px, min(width, height) * 2 // 3))
            return _squares(width, height, unit) * price.crop_tokens


def _shrunk(width: int, height: int, measured: int, limit_px: int) -> tuple[int, int]:
    """The sides of an image whose measured one is shrunk to a limit; at least a pixel stays."""
    if measured <= limit_px:
        return width, height
    return max(1, width * limit_px // measured), max(1, height * limit_px // measured)


def _squares(width: int, height: int, square_px: int) -> int:
    return -(-width // square_px) * -(-height // square_px)
