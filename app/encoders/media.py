"""Media as providers of the chat family are told of it: by address, or in the message itself.

Source: docs/semantics/encoders.md#media.
"""

from app.core.blocks import Base64Source, Data, FileIdSource, UrlSource
from app.core.media_header import base64_of_url

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"})
"""Images that every provider takes. Others, as SVG and TIFF, are refused."""

ANY_IMAGE = "image/*"
"""Of an image behind an address whose type nobody has told."""

PDF_TYPE = "application/pdf"

_HEAD_CHARS = 256
"""Of a `data:` address, in which its type stands."""

AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}
"""The sounds that the chat family takes, under the names that it has for them."""


def media_type(data: Data) -> str | None:
    """The type without parameters, in small letters; None for a file under an id.

    A `data:` address tells its type itself, whatever else is said of it.
    """
    if isinstance(data.source, FileIdSource):
        return None
    said = data.source.media_type
    if isinstance(data.source, UrlSource):
        head, comma, _ = data.source.url[:_HEAD_CHARS].partition(",")
        if comma and head[:5].lower() == "data:":
            said = head[5:] or said
    return said.partition(";")[0].strip().lower()


def address(data: Data) -> str | None:
    """Where a provider can read a medium: on the web, or in a `data:` address; None elsewhere."""
    match data.source:
        case Base64Source(data=base64):
            return f"data:{media_type(data)};base64,{base64}" if base64 else None
        case UrlSource(url=url) if url.lower().startswith(("http://", "https://", "data:")):
            return url
        case _:
            return None


def payload(data: Data) -> str | None:
    """A medium in base64, where the message itself holds it."""
    match data.source:
        case Base64Source(data=base64):
            return base64 or None
        case UrlSource(url=url):
            return base64_of_url(url) or None
        case _:
            return None


def is_image(data: Data) -> bool:
    """Whether it is an image that providers take."""
    sort = media_type(data)
    return sort in IMAGE_TYPES or (sort == ANY_IMAGE and isinstance(data.source, UrlSource))
