"""The refusals of world state.

Each names the section in `key`; a refusal that passes a worker's own failure
on also carries that failure's code in `capture_code`.

Source: docs/semantics/world-state.md#errors.
"""

from app.core.errors import ContextError


class UserProjectContextError(ContextError):
    """The project section cannot be rendered, or the worker could not capture it."""

    code = "user_project_context_error"


class ProjectInstructionError(ContextError):
    """The instruction file cannot be used, or the worker could not read it."""

    code = "project_instruction_error"


class SkillCatalogTaskError(ContextError):
    """The worker could not scan its skills."""

    code = "skill_catalog_task_error"


class SectionCaptureFailed(ContextError):
    """The worker could not capture the sandbox policy or a custom section."""

    code = "section_capture_failed"


class SectionOverLimit(ContextError):
    """The text of a custom section reaches its cap."""

    code = "section_over_limit"


class InvalidCustomSection(ContextError):
    """A custom section has an id or a tag that it cannot have."""

    code = "invalid_custom_section"


class UnknownSection(ContextError):
    """A failure policy names a section that is neither built in nor captured."""

    code = "unknown_section"
