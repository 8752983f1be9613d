"""Lint: would a provider take a body, and if not, where."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, JsonValue
from starlette.responses import Response

from app.api.dependencies import JsonBody, Service
from app.api.openapi_docs import reads, refuses_body
from app.api.responses import json_response
from app.api.validation import WireModel, validated
from app.api.wire import ModelName
from app.encoders.encoding import Format
from app.services.linting import lint_given

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
    findings = await lint_given(service, given.format, given.model, given.request)
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
