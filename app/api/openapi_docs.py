"""What routes say of themselves in OpenAPI: bodies, answers and refusals.

Bodies are read by our own code, so their models are named here instead of
in the signatures.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from app.api.problems import MEDIA_TYPE, STATUS
from app.core.errors import (
    BodyTooLarge,
    ContextError,
    InvalidRequest,
    MalformedJson,
    TooDeep,
    UnknownField,
)
from app.store.errors import DatabaseUnavailable

REQUEST_MODELS: list[type[BaseModel]] = []
"""Models of bodies, which OpenAPI has among its components."""

_EVERY_BODY = (MalformedJson, BodyTooLarge, TooDeep, InvalidRequest, UnknownField)


def reads(
    model: type[BaseModel], example: Mapping[str, object], *others: type[BaseModel]
) -> dict[str, Any]:
    """OpenAPI's description of a body, with an example of it; others may come in its place."""
    models = (model, *others)
    REQUEST_MODELS.extend(each for each in models if each not in REQUEST_MODELS)
    refs = [{"$ref": f"#/components/schemas/{each.__name__}"} for each in models]
    schema = refs[0] if len(refs) == 1 else {"anyOf": refs}
    content = {"application/json": {"schema": schema, "example": dict(example)}}
    return {"requestBody": {"required": True, "content": content}}


def refuses(*kinds: type[ContextError]) -> dict[int | str, dict[str, Any]]:
    """The refusals of a route without a body, by status."""
    codes: defaultdict[int, list[str]] = defaultdict(list)
    kind: type[ContextError]
    for kind in (*kinds, DatabaseUnavailable):
        codes[STATUS[kind].value].append(kind.code)
    return {status: _problem(names) for status, names in sorted(codes.items())}


def refuses_body(*kinds: type[ContextError]) -> dict[int | str, dict[str, Any]]:
    """The refusals of a route with a body, by status."""
    return refuses(*_EVERY_BODY, *kinds)


def _problem(codes: Sequence[str]) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": "Refused: " + ", ".join(f"`{code}`" for code in codes),
        "content": {MEDIA_TYPE: {"schema": schema}},
    }
