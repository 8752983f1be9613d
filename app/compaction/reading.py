"""JSON that somebody else wrote: read as what it must be, or refused.

Source: docs/semantics/compaction.md#errors.
"""

from collections.abc import Collection, Mapping
from typing import cast

from app.compaction.errors import StateError
from app.core.content import JsonObject


def object_of(value: object, what: str) -> JsonObject:
    """The JSON object that `value` is.

    Raises:
        StateError: It is something else.
    """
    if not isinstance(value, Mapping):
        raise StateError(f"{what} is not a JSON object", key=what)
    # The keys of a JSON object are strings.
    return dict(cast("Mapping[str, object]", value))


def list_of(value: object, what: str) -> list[object]:
    """The JSON array that `value` is.

    Raises:
        StateError: It is something else.
    """
    if not isinstance(value, list):
        raise StateError(f"{what} is not a JSON array", key=what)
    return value


def text_of(value: object, what: str) -> str:
    """The JSON string that `value` is.

    Raises:
        StateError: It is something else.
    """
    if not isinstance(value, str):
        raise StateError(f"{what} is not a JSON string", key=what)
    return value


def refuse_other_fields(fields: JsonObject, known: Collection[str], what: str) -> None:
    """Refuse an object with a field that its schema does not have.

    Raises:
        StateError: Names the first such field, by code point.
    """
    unknown = sorted(fields.keys() - set(known))
    if unknown:
        raise StateError(f"{what} has an unknown field: {unknown[0]}", key=unknown[0])
