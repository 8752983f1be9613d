"""Responses: bytes that are made once."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from starlette.responses import Response

from app.core import canonical

JSON = "application/json"
NDJSON = "application/x-ndjson"


def json_response(
    value: object,
    status: HTTPStatus = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A JSON value as a response."""
    return Response(canonical.encode(value), status.value, dict(headers or {}), media_type=JSON)


def spliced(before: bytes, name: str, fragments: Sequence[bytes]) -> bytes:
    """A JSON object with one more member, whose value is made of fragments.

    The value is neither parsed nor encoded again.
    """
    opening = b"" if before == b"{}" else b","
    return b"".join([before[:-1], opening, canonical.encode(name), b":", *fragments, b"}"])
