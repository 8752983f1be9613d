"""What rendering a section gives: its text as it is now, and warnings for people.

Source: docs/semantics/world-state.md#the-capture.
"""

from dataclasses import dataclass
from typing import TypeAlias

from app.core.errors import ContextError
from app.world_state.capture import NotSampled


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionWarning:
    """Something that people should know and the model is not told."""

    code: str
    detail: str
    section: str
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """A section's text; None where it is absent, `NOT_SAMPLED` where nothing is said."""

    text: str | NotSampled | None
    warnings: tuple[SectionWarning, ...] = ()


Outcome: TypeAlias = Rendering | ContextError
"""A section's rendering, or why there is none."""
