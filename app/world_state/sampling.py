"""A sample of world state: render a capture, then tell the model what changed.

Source: docs/semantics/world-state.md#a-sample.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from app.world_state.baseline import Baseline, SectionState, Unknown, section_state
from app.world_state.capture import Capture, NotSampled
from app.world_state.capture_rendering import render_capture
from app.world_state.custom import check_custom_sections
from app.world_state.diff import Emission, advance, diff
from app.world_state.on_error import OnError, check_on_error, fall_back, on_error_of
from app.world_state.rendering import Outcome, Rendering, SectionWarning
from app.world_state.sample_point import SamplePoint
from app.world_state.sections import Section, sections_with


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledSection:
    """A section that was sampled. `changed` tells whether its baseline moved."""

    id: str
    state: SectionState
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """What a sample gives. `baseline` holds once all emissions are stored, and not before."""

    emissions: tuple[Emission, ...]
    sections: tuple[SampledSection, ...]
    warnings: tuple[SectionWarning, ...]
    baseline: Baseline


def sample(
    capture: Capture,
    *,
    point: SamplePoint,
    baseline: Baseline,
    kept: Set[str],
    on_error: Mapping[str, OnError],
    last_good: Mapping[str, str],
) -> Sampling:
    """Render a capture and say what to tell the model.

    Args:
        capture: What the worker saw.
        point: Names the messages.
        baseline: What is on record, by section id.
        kept: The ids of the sections that the conversation still tells
            about, as `retained_sections` finds them.
        on_error: Failure policies by section id or name; the others fail.
        last_good: The last good texts by section id.

    Raises:
        InvalidCustomSection: A custom section could be taken for another one.
        UnknownSection: `on_error` names a section that is not there.
        ContextError: The first section that failed and whose policy is to fail.
    """
    check_custom_sections(capture.custom)
    check_on_error(on_error, sections_with(capture.custom))
    renderings = [
        (section, _settled(section, outcome, on_error, last_good))
        for section, outcome in render_capture(capture)
    ]
    sampled = _sampled(renderings)
    emissions = diff(sampled, baseline=baseline, kept=kept, point=point)
    advanced = advance(baseline, emissions)
    return Sampling(
        emissions=emissions,
        sections=_sections(sampled, baseline, advanced),
        warnings=tuple(warning for _, rendering in renderings for warning in rendering.warnings),
        baseline=advanced,
    )


def _settled(
    section: Section,
    outcome: Outcome,
    on_error: Mapping[str, OnError],
    last_good: Mapping[str, str],
) -> Rendering:
    if isinstance(outcome, Rendering):
        return outcome
    choice = on_error_of(section, on_error)
    return fall_back(section, outcome, choice=choice, last_good=last_good.get(section.id))


def _sampled(
    renderings: list[tuple[Section, Rendering]],
) -> tuple[tuple[Section, SectionState], ...]:
    return tuple(
        (section, section_state(rendering.text))
        for section, rendering in renderings
        if not isinstance(rendering.text, NotSampled)
    )


def _sections(
    sampled: tuple[tuple[Section, SectionState], ...], before: Baseline, after: Baseline
) -> tuple[SampledSection, ...]:
    return tuple(
        SampledSection(
            id=section.id,
            state=state,
            changed=before.get(section.id, Unknown()) != after.get(section.id, Unknown()),
        )
        for section, state in sampled
    )
