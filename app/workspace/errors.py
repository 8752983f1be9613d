"""What can go wrong while a workspace is read.

None of these leaves the worker as a refusal of the service: a section that
cannot be read becomes part of the capture, a skill that cannot be read a
warning. So they stand outside `ContextError` and its HTTP statuses.

Source: docs/semantics/workspace.md#failures.
"""

from typing import Literal, TypeAlias

SectionErrorCode: TypeAlias = Literal["user_project_context_error", "project_instruction_error"]


class SectionError(Exception):
    """A section that cannot be read, with the code and sentence of its failure."""

    def __init__(self, code: SectionErrorCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class SkillUnreadable(Exception):
    """A skill that cannot be loaded; its text is the reason of a warning."""


class SkillUnavailable(Exception):
    """A selected skill that is unknown, disabled, misnamed or past the scan limit."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Selected skill is unavailable: {name}")
        self.name = name
