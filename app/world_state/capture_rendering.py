"""Renders a whole capture, one outcome per section.

Source: docs/semantics/world-state.md#the-capture.
"""

from collections.abc import Callable
from functools import partial

from app.core.errors import ContextError
from app.world_state.capture import (
    NOT_SAMPLED,
    Capture,
    Captured,
    CaptureFailure,
    CustomSection,
    T,
)
from app.world_state.custom import render_custom
from app.world_state.errors import (
    ProjectInstructionError,
    SectionCaptureFailed,
    SkillCatalogTaskError,
    UserProjectContextError,
)
from app.world_state.instructions import instructions_path, render_instructions
from app.world_state.project import render_project
from app.world_state.rendering import Outcome, Rendering
from app.world_state.sandbox import render_sandbox
from app.world_state.sections import (
    INSTRUCTIONS,
    PROJECT,
    SANDBOX,
    SKILLS,
    Section,
    custom_section,
)
from app.world_state.skills import render_skills


def render_capture(capture: Capture) -> tuple[tuple[Section, Outcome], ...]:
    """Every section in the order of emission, rendered or with the error that prevented it."""
    instructions = partial(render_instructions, path=instructions_path(capture.project))
    return (
        _outcome(PROJECT, capture.project, render_project, UserProjectContextError),
        _outcome(INSTRUCTIONS, capture.instructions, instructions, ProjectInstructionError),
        _outcome(SKILLS, capture.skills, render_skills, SkillCatalogTaskError),
        _outcome(SANDBOX, capture.sandbox, render_sandbox, SectionCaptureFailed),
        *(_custom_outcome(custom) for custom in capture.custom),
    )


def _custom_outcome(custom: CustomSection) -> tuple[Section, Outcome]:
    render = partial(render_custom, section=custom)
    return _outcome(custom_section(custom), custom.body, render, SectionCaptureFailed)


def _outcome(
    section: Section,
    captured: Captured[T],
    render: Callable[[T], Rendering],
    capture_error: type[ContextError],
) -> tuple[Section, Outcome]:
    if captured is NOT_SAMPLED or captured is None:
        return section, Rendering(text=captured)
    if isinstance(captured, CaptureFailure):
        error = capture_error(captured.detail, key=section.id, capture_code=captured.code)
        return section, error
    try:
        return section, render(captured)
    except ContextError as error:
        return section, error
