"""Holds every response to openapi/openapi.json, so that documentation and behaviour agree."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import httpx
from jsonschema import Draft202012Validator

Schema: TypeAlias = dict[str, Any]

DOCUMENT: Schema = json.loads(
    (Path(__file__).parents[2] / "openapi" / "openapi.json").read_text(encoding="utf-8")
)
PROBLEM = "application/problem+json"
NDJSON = "application/x-ndjson"
WITH_SLASHES = frozenset({"message_id", "name"})
"""Parameters of a path that may hold a slash."""


async def hold_to_contract(response: httpx.Response) -> None:
    """Fail where a response is not one that its operation documents.

    What no operation answers, such as an unknown path, must be a problem.
    """
    await response.aread()
    operation = operation_of(response.request.method, response.request.url.path)
    if operation is None:
        assert media_type_of(response) == PROBLEM, said(response)
        check(response, {"$ref": "#/components/schemas/Problem"})
        return
    documented = operation["responses"].get(str(response.status_code))
    assert documented is not None, f"undocumented status: {said(response)}"
    content = documented.get("content", {})
    if not content:
        assert response.content == b"", said(response)
        return
    assert media_type_of(response) in content, f"undocumented type: {said(response)}"
    check(response, content[media_type_of(response)].get("schema", {}))
    if media_type_of(response) == PROBLEM:
        assert f"`{response.json()['code']}`" in documented["description"], said(response)


def operation_of(method: str, path: str) -> Schema | None:
    """The documented operation that answers a request."""
    for template, operations in DOCUMENT["paths"].items():
        operation: Schema | None = operations.get(method.lower())
        if operation is not None and pattern_of(template).fullmatch(path):
            return operation
    return None


@cache
def pattern_of(template: str) -> re.Pattern[str]:
    """What a path template matches."""
    parts = re.split(r"\{(\w+)\}", template)
    literals, parameters = parts[::2], [*parts[1::2], None]
    pattern = ""
    for literal, parameter in zip(literals, parameters, strict=True):
        pattern += re.escape(literal)
        if parameter is not None:
            pattern += ".+" if parameter in WITH_SLASHES else "[^/]+"
    return re.compile(pattern, re.DOTALL)


def media_type_of(response: httpx.Response) -> str:
    """The content type without its parameters."""
    content_type: str = response.headers.get("content-type", "")
    return content_type.partition(";")[0]


def check(response: httpx.Response, schema: Schema) -> None:
    """Fail where a JSON body does not have its schema; other types have none."""
    if media_type_of(response) == NDJSON:
        return
    faults = [
        f"{fault.json_path}: {fault.message[:300]}"
        for fault in validator(json.dumps(schema)).iter_errors(response.json())
    ]
    assert not faults, f"{said(response)}: {faults[:5]}"


@cache
def validator(schema: str) -> Draft202012Validator:
    """The validator of a schema that may name the document's components."""
    components = {
        "schemas": {
            name: closed(component) for name, component in DOCUMENT["components"]["schemas"].items()
        }
    }
    return Draft202012Validator({**json.loads(schema), "components": components})


def closed(component: Schema) -> Schema:
    """A component that allows only the fields it names, unless it says otherwise."""
    if component.get("type") == "object" and "properties" in component:
        return {"additionalProperties": False, **component}
    return component


def said(response: httpx.Response) -> str:
    """A response in one line, for the message of a failure."""
    request = response.request
    return f"{request.method} {request.url.path} -> {response.status_code} {response.text[:300]}"
