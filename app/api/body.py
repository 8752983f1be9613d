"""Request bodies: read within bounds, decoded once, cleaned of lone surrogates.

A faster decoder may replace the standard library's at this one place.

Source: docs/errors.md#bad-input.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from starlette.requests import Request

from app.core.errors import BodyTooLarge, InvalidRequest, MalformedJson, TooDeep

MAX_BODY_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 64
DRAINED_BODIES = 8
"""How many times the limit is still read and thrown away, so that a client
that is sending too much gets to see the answer instead of a broken pipe."""

Container: TypeAlias = dict[str, object] | list[object]

_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A decoded body and the JSON Pointers of the texts that had to be repaired."""

    value: object
    repaired: tuple[str, ...]


async def read_body(request: Request) -> Body:
    """The decoded body of a request; nothing at all counts as an empty object.

    Raises:
        BodyTooLarge, MalformedJson, TooDeep: It cannot be taken.
    """
    raw = await _read(request)
    return decode_body(raw) if raw else Body(value={}, repaired=())


def decode_body(raw: bytes) -> Body:
    """The value of JSON bytes, with lone surrogates replaced by U+FFFD.

    Raises:
        MalformedJson: Not UTF-8, not JSON, or a number that is none.
        TooDeep: Nested deeper than `MAX_DEPTH`.
    """
    try:
        value = json.loads(raw.decode(), parse_constant=_refuse_constant, parse_float=_finite_float)
    except UnicodeDecodeError as error:
        raise MalformedJson(f"the body is not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise MalformedJson(f"the body is not JSON: {error}") from error
    _check_depth(value)
    # Only an escape can make a lone surrogate, since the bytes are UTF-8.
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return Body(value=value, repaired=())
    repaired: list[str] = []
    return Body(value=_clean(value, "", repaired), repaired=tuple(repaired))


async def _read(request: Request) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            chunks.append(chunk)
        else:
            chunks.clear()
        if size > MAX_BODY_BYTES * DRAINED_BODIES:
            break
    if size > MAX_BODY_BYTES:
        raise BodyTooLarge(
            f"the body is larger than {MAX_BODY_BYTES} bytes", limit_bytes=MAX_BODY_BYTES
        )
    return b"".join(chunks)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number


def _check_depth(value: object) -> None:
    level: list[Container] = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return
        level = [
            child
            for parent in level
            for child in _children(parent)
            if isinstance(child, dict | list)
        ]
    if level:
        raise _too_deep()


def _children(container: Container) -> Iterable[object]:
    return container.values() if isinstance(container, dict) else container


def _too_deep() -> TooDeep:
    return TooDeep(f"the body is nested deeper than {MAX_DEPTH} levels", limit=MAX_DEPTH)


def _clean(value: object, path: str, repaired: list[str]) -> object:
    match value:
        case str():
            return _clean_text(value, path, repaired)
        case list():
            return [_clean(item, f"{path}/{index}", repaired) for index, item in enumerate(value)]
        case dict():
            return _clean_object(value, path, repaired)
        case _:
            return value


def _clean_object(value: dict[str, object], path: str, repaired: list[str]) -> dict[str, object]:
    cleaned: dict[str, object] = {}
    for key, item in value.items():
        name = _clean_text(key, path, repaired)
        if name in cleaned:
            raise InvalidRequest(f"two keys of {path or '/'} become equal", path=path)
        cleaned[name] = _clean(item, f"{path}/{_pointer_token(name)}", repaired)
    return cleaned


def _clean_text(text: str, path: str, repaired: list[str]) -> str:
    if text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    repaired.append(path)
    return "".join(
        _REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in text
    )


def _pointer_token(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
