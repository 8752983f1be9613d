"""Who fills the runtime state and speaks in the reminder, and in which order.

Source: docs/semantics/compaction.md#contributors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.compaction.errors import StateError
from app.compaction.file_changes import edited_paths, edited_paths_section
from app.compaction.reminder import Section
from app.compaction.runtime_state import CollectionWarning, RuntimeState
from app.compaction.turn_plan import TURN_PLAN_KEY, TurnPlan, plan_section, with_plan
from app.core.blocks import Artifact
from app.core.text import is_blank

COLLECTION_FAILED = "collection_failed"
"""The warning of a contributor that could be done without."""

Necessity: TypeAlias = Literal["required", "best_effort"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What contributors look at."""

    artifacts: tuple[Artifact, ...]
    """Of every stored message of the session, in order, folded ones included."""
    plan: TurnPlan | None
    """Of the turn that compacts; None where no turn does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributor:
    """Collects one part of the state and renders it. Either may raise `StateError`."""

    key: str
    necessity: Necessity
    collect: Callable[[RuntimeState, Evidence], RuntimeState]
    section: Callable[[RuntimeState], Section]


def _collect_edited_paths(state: RuntimeState, evidence: Evidence) -> RuntimeState:
    return replace(state, edited_paths=edited_paths(evidence.artifacts))


def _collect_plan(state: RuntimeState, evidence: Evidence) -> RuntimeState:
    return with_plan(state, evidence.plan)


CONTRIBUTORS: tuple[Contributor, ...] = (
    Contributor(
        key="file_changes",
        necessity="required",
        collect=_collect_edited_paths,
        section=edited_paths_section,
    ),
    Contributor(
        key=TURN_PLAN_KEY,
        necessity="required",
        collect=_collect_plan,
        section=plan_section,
    ),
)
"""The contributors of every compaction."""


def collect_state(
    base: RuntimeState,
    evidence: Evidence,
    contributors: Sequence[Contributor] = CONTRIBUTORS,
) -> RuntimeState:
    """The state after `base`: warnings are new, what nobody collects stays.

    Raises:
        StateError: A required contributor failed, or two share a key.
    """
    state = replace(base, warnings=())
    for contributor in _ordered(contributors):
        try:
            state = contributor.collect(state, evidence)
        except StateError:
            if contributor.necessity == "required":
                raise
            warning = CollectionWarning(contributor_key=contributor.key, code=COLLECTION_FAILED)
            state = replace(state, warnings=(*state.warnings, warning))
    return state


def sections_of(
    state: RuntimeState, contributors: Sequence[Contributor] = CONTRIBUTORS
) -> tuple[Section, ...]:
    """What the contributors tell in the reminder, in the order of their keys.

    Raises:
        StateError: One of them cannot read its part, or two share a key.
    """
    return tuple(contributor.section(state) for contributor in _ordered(contributors))


def _ordered(contributors: Sequence[Contributor]) -> list[Contributor]:
    keys = [contributor.key for contributor in contributors]
    for key in keys:
        if is_blank(key):
            raise StateError("runtime contributor key must not be blank", key=key)
        if keys.count(key) > 1:
            raise StateError(f"duplicate runtime contributor key: {key}", key=key)
    return sorted(contributors, key=lambda contributor: contributor.key)
