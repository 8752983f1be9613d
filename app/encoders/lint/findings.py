"""Findings: what a provider would refuse in a body, and what costs more than it has to.

Source: docs/semantics/lint.md#findings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning"]
FindingCode: TypeAlias = Literal[
    "invalid_shape",
    "missing_field",
    "unknown_role",
    "first_role",
    "last_role",
    "role_order",
    "system_in_conversation",
    "no_messages",
    "empty_content",
    "empty_text",
    "call_without_result",
    "result_without_call",
    "duplicate_result",
    "result_behind_other",
    "invalid_call_id",
    "duplicate_call_id",
    "invalid_arguments",
    "unsigned_thinking",
    "unsigned_call",
    "reasoning_alone",
    "media_type",
    "media_size",
    "media_count",
    "image_dimensions",
    "tools_missing",
    "tool_name",
    "duplicate_tool",
    "tool_schema",
    "too_many_breakpoints",
    "thinking_budget",
    "output_limit",
    "window",
    "volatile_prefix",
]

SEVERITIES: Mapping[FindingCode, Severity] = {"volatile_prefix": "warning", "window": "warning"}
"""Of the codes that are no errors."""

MOST_FINDINGS = 200
"""Told of one body: who has so many has more to do than to read further ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something in a body."""

    code: FindingCode
    path: str
    """Names and indexes from the body down, with dots between; empty for the body itself."""
    detail: str

    @property
    def severity(self) -> Severity:
        """Whether the provider refuses it, or takes it and it costs."""
        return SEVERITIES.get(self.code, "error")


@dataclass(slots=True)
class FindingLog:
    """Findings as they are made."""

    _found: list[Finding] = field(default_factory=list)

    def add(self, code: FindingCode, path: str, detail: str) -> None:
        """Tell of something at a path."""
        if len(self._found) < MOST_FINDINGS:
            self._found.append(Finding(code=code, path=path, detail=detail))

    def all(self) -> tuple[Finding, ...]:
        """What was told, in the order in which it was found."""
        return tuple(self._found)
