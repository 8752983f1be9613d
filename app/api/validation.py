"""Decoded bodies as wire models, and what is wrong with those that are none.

Source: docs/errors.md#bad-input.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from app.core.canonical import Json
from app.core.errors import InvalidRequest, UnknownField

_UNKNOWN_FIELD = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_SHOWN_ERRORS = 20
"""Of a body with thousands of faults, the first ones are enough to mend it."""


class WireModel(BaseModel):
    """A request body or a part of one: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], value: object) -> M:
    """The body as a wire model.

    Raises:
        UnknownField: All that is wrong is fields that do not exist.
        InvalidRequest: Something else is wrong; every fault is listed.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False), value) from error


def refuse_invalid(found: Sequence[Any]) -> InvalidRequest | UnknownField:
    """The refusal of a path or a query, from the framework's list of faults."""
    value: dict[str, dict[str, object]] = {fault["loc"][0]: {} for fault in found}
    return _refusal(found, value)


def _refusal(found: Sequence[ErrorDetails], value: object) -> InvalidRequest | UnknownField:
    relevant = _relevant(found, value)
    errors: list[Json] = [
        {"path": _pointer(fault["loc"], value), "detail": _sentence(fault)}
        for fault in relevant[:_SHOWN_ERRORS]
    ]
    first = relevant[0]
    if all(fault["type"] in _UNKNOWN_FIELD for fault in relevant):
        path = _pointer(first["loc"], value)
        key = str(first["loc"][-1])
        return UnknownField(f"there is no field {key!r} at {path}", key=key, errors=errors)
    where = _pointer(first["loc"], value) or "the body"
    return InvalidRequest(f"{where}: {_sentence(first)}", errors=errors)


def _sentence(fault: ErrorDetails) -> str:
    return fault["msg"].removeprefix("Value error, ")


def _relevant(found: Sequence[ErrorDetails], value: object) -> Sequence[ErrorDetails]:
    """The faults without those of union members that the value cannot have meant."""
    kept = [fault for fault in found if not _other_member(fault, value)]
    return kept or found


def _other_member(fault: ErrorDetails, value: object) -> bool:
    wanted = _TYPE_FAULTS.get(fault["type"])
    label = fault["loc"][-1] if fault["loc"] else None
    return wanted is not None and label == wanted and not _is_key(fault["loc"], value)


_TYPE_FAULTS: Mapping[str, str] = {"string_type": "str", "literal_error": "literal"}
"""Faults that only say which member of a union was tried, by the member's label."""


def _is_key(location: tuple[int | str, ...], value: object) -> bool:
    """Whether the last step of a location is a real key or index of the body."""
    return len(_steps(location, value)) == len(location)


def _pointer(location: tuple[int | str, ...], value: object) -> str:
    """The JSON Pointer of a fault; labels of union members are left out."""
    steps = _steps(location, value)
    last = location[-1] if location else None
    missing = isinstance(last, str) and (not steps or steps[-1] != last) and "[" not in last
    parts = [*steps, last] if missing and last not in _LABELS else steps
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


_LABELS = frozenset(
    {
        *("str", "literal", "int", "float", "bool", "dict", "list"),
        *("captured", "failed", "bare", "given"),
    }
)
"""How the members of unions are called in locations; no field has such a name."""


def _steps(location: tuple[int | str, ...], value: object) -> list[int | str]:
    """The steps of a location that the body really has."""
    steps: list[int | str] = []
    for number, part in enumerate(location, start=1):
        if number < len(location) and _is_label(part, value):
            continue
        match value:
            case list() if isinstance(part, int) and part < len(value):
                value = value[part]
            case dict() if part in value:
                value = value[part]
            case _:
                continue
        steps.append(part)
    return steps


def _is_label(part: int | str, value: object) -> bool:
    """Whether a step names the union member that a tagged object was taken for."""
    return isinstance(value, dict) and part in (value.get("type"), value.get("source_type"))
