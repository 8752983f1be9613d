"""Prepared calls in the words of the format that was asked for."""

import asyncio
from dataclasses import dataclass
from typing import cast

from app.core import canonical
from app.core.engine import PreparedCall
from app.core.prefix import Elements, neutral_elements
from app.encoders.encoding import Encoded, EncodingOptions, Format
from app.encoders.formats import ENCODERS
from app.encoders.prepared_call import encoded_elements, neutral_request
from app.services.calls import NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The request of a prepared call, as its provider takes it."""

    call: PreparedCall
    format: str
    elements: Elements
    encoded: Encoded | None = None
    """None: the neutral request."""

    def fragments(self) -> list[bytes]:
        """The request in pieces; joining them gives its exact bytes."""
        if self.encoded is None:
            return self.call.request_fragments()
        return [canonical.encode(self.encoded.body())]


async def wording_of(call: PreparedCall, request_format: str) -> Wording:
    """The request of a call in a format, which is `neutral` or one that has an encoder.

    Equal calls give equal bytes. A call that was prepared is never refused:
    what the format cannot say is changed, and told in its repairs.
    """
    if request_format == NEUTRAL:
        return Wording(call=call, format=NEUTRAL, elements=neutral_elements(call))
    # A prepare takes no other format, so no recipe has one.
    return await asyncio.to_thread(_encoded, call, cast("Format", request_format))


def _encoded(call: PreparedCall, body_format: Format) -> Wording:
    options = EncodingOptions(accepts_data_blocks=call.profile.accepts_data_blocks)
    encoded = ENCODERS[body_format](neutral_request(call), options)
    return Wording(
        call=call, format=body_format, elements=encoded_elements(encoded), encoded=encoded
    )
