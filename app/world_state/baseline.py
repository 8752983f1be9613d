"""The baseline: what the model was last told about each section.

Source: docs/semantics/world-state.md#the-baseline.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """Nothing is on record about the section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """The section is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The section has this text."""

    text: str


SectionState: TypeAlias = Absent | Known
"""What a sampled section is now."""

SectionBaseline: TypeAlias = Unknown | Absent | Known
"""What is on record about a section."""

Baseline: TypeAlias = Mapping[str, SectionBaseline]
"""Records by section id. A section that is not in it is unknown."""


def section_state(text: str | None) -> SectionState:
    """The state of a section with this text, None standing for no section."""
    return Absent() if text is None else Known(text=text)
