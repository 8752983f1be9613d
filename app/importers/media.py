"""Media of transcripts: in the message itself, behind an address, or under an id.

Source: docs/semantics/importers.md#media.
"""

import re

from app.core.blocks import Base64Source, Data, DataSource, FileIdSource, UrlSource

_DATA_URL = re.compile(r"data:(?P<type>[a-z0-9.+*-]+/[a-z0-9.+*-]+);base64,(?P<data>.+)", re.DOTALL)
"""Without parameters and in small letters, so that it can be written again as it was."""
_DATA_TYPE = re.compile(r"data:(?P<type>[^;,]+/[^;,]+)[;,]", re.IGNORECASE)

ANY_IMAGE = "image/*"
PDF_TYPE = "application/pdf"


def medium(source: DataSource, name: str | None = None) -> Data:
    """A data block."""
    return Data(type="data", source=source, name=name)


def at_url(url: str, media_type: str) -> DataSource:
    """The source that an address is; what a `data:` address says is more exact than `media_type`.

    >>> at_url("data:image/png;base64,AAAA", "image/*")
    Base64Source(source_type='base64', data='AAAA', media_type='image/png')
    """
    family = media_type.partition("/")[0] + "/"
    found = _DATA_URL.fullmatch(url)
    if found is not None and found["type"].startswith(family):
        return in_message(found["data"], found["type"])
    told = _DATA_TYPE.match(url)
    # An address that says something else than the part that it stands in is left as it is.
    exact = told["type"] if told is not None and told["type"].startswith(family) else media_type
    return UrlSource(source_type="url", url=url, media_type=exact)


def in_message(data: str, media_type: str) -> Base64Source:
    """The source of base64."""
    return Base64Source(source_type="base64", data=data, media_type=media_type)


def under_id(file_id: str) -> DataSource:
    """The source of a file that the provider holds."""
    return FileIdSource(source_type="file_id", id=file_id)
