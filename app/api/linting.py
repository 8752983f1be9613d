"""Lint: would a provider take a body, and if not, where."""

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, JsonValue
from starlette.responses import Response

from app.api.dependencies import JsonBody, Service, SessionId
from app.api.openapi_docs import reads, refuses, refuses_body
from app.api.prepare import ENGINE_REFUSALS
from app.api.responses import json_response
from app.api.validation import WireModel, validated
from app.api.wire import ModelName
from app.core import errors
from app.encoders.encoding import Format
from app.encoders.lint.findings import Finding
from app.services.linting import lint_given, lint_session

router = APIRouter(prefix="/v1", tags=["stateless"])

_BODY = {"model": "gpt-5.1", "messages": [{"role": "user", "content": "Fix the build."}]}


class LintIn(WireModel):
    """A body as it would be posted, and whose words it is said in."""

    format: Format
    model: ModelName | None = None
    request: dict[str, JsonValue]


class FindingOut(BaseModel):
    """Something in a body."""

    code: str
    severity: Literal["error", "warning"]
    path: str
    detail: str


class LintOut(BaseModel):
    """Whether the provider would take it; warnings cost, and are no reason to refuse."""

    ok: bool
    findings: list[FindingOut]


@router.post(
    "/lint",
    response_model=LintOut,
    responses=refuses_body(),
    openapi_extra=reads(LintIn, {"format": "openai.chat", "request": _BODY}),
)
async def lint(service: Service, body: JsonBody) -> Response:
    """Tell what a provider would refuse in a body, and where."""
    given = validated(LintIn, body.value)
    return _findings(await lint_given(service, given.format, given.model, given.request))


@router.get(
    "/sessions/{session_id}/lint",
    response_model=LintOut,
    responses=refuses(errors.SessionNotFound, errors.InvalidRequest, *ENGINE_REFUSALS),
)
async def lint_next_call(
    service: Service, session_id: SessionId, body_format: Annotated[Format, Query(alias="format")]
) -> Response:
    """Tell what a provider would refuse in the next call of a session, which is not stored."""
    return _findings(await lint_session(service, session_id, body_format))


def _findings(findings: Sequence[Finding]) -> Response:
    return json_response(
        {
            "ok": not any(finding.severity == "error" for finding in findings),
            "findings": [
                {
                    "code": finding.code,
                    "severity": finding.severity,
                    "path": finding.path,
                    "detail": finding.detail,
                }
                for finding in findings
            ],
        }
    )
