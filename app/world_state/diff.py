"""The diff: which sections the model has to be told about, and how.

Source: docs/semantics/world-state.md#the-truth-table.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.world_state.baseline import (
    Absent,
    Baseline,
    Known,
    SectionBaseline,
    SectionState,
    Unknown,
)
from app.world_state.sample_point import SamplePoint
from app.world_state.sections import Section, with_notice

Notice: TypeAlias = Literal["replacement", "removal"]

_Base: TypeAlias = Literal["unknown", "known", "absent"]
_Kept: TypeAlias = Literal["kept", "gone"]
_Now: TypeAlias = Literal["same", "other", "absent"]
_Verdict: TypeAlias = Literal["silence", "body"] | Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """One message that tells the model about one section.

    `text` is the whole message, its notice included; `state` is what the
    section's baseline becomes once the message is stored.
    """

    section: str
    message_id: str
    notice: Notice | None
    text: str
    state: SectionState


TRUTH_TABLE: Mapping[tuple[_Base, _Kept, _Now], _Verdict] = {
    ("unknown", "gone", "other"): "body",
    ("unknown", "gone", "absent"): "silence",
    ("unknown", "kept", "other"): "replacement",
    ("unknown", "kept", "absent"): "removal",
    ("known", "kept", "same"): "silence",
    ("known", "kept", "other"): "replacement",
    ("known", "kept", "absent"): "removal",
    ("known", "gone", "same"): "body",
    ("known", "gone", "other"): "body",
    ("known", "gone", "absent"): "silence",
    ("absent", "kept", "absent"): "silence",
    ("absent", "kept", "other"): "body",
    ("absent", "gone", "absent"): "silence",
    ("absent", "gone", "other"): "body",
}
"""What to say, by what is on record, whether a message about the section is
still in the conversation, and how the section compares with the record now.
A section that comes back after its removal notice needs no second notice."""


def diff(
    sampled: Iterable[tuple[Section, SectionState]],
    *,
    baseline: Baseline,
    kept: Set[str],
    point: SamplePoint,
) -> tuple[Emission, ...]:
    """What to tell the model, in the order of `sampled`.

    Args:
        sampled: The sections that were sampled, as they are now. A section
            that is not among them emits nothing.
        baseline: What is on record.
        kept: The ids of the sections with a message in the conversation.
        point: Names the messages.
    """
    emissions = (_emission(section, now, baseline, kept, point) for section, now in sampled)
    return tuple(emission for emission in emissions if emission is not None)


def advance(baseline: Baseline, emissions: Iterable[Emission]) -> dict[str, SectionBaseline]:
    """The baseline once every emission is stored. Other sections keep theirs."""
    return {**baseline, **{emission.section: emission.state for emission in emissions}}


def _emission(
    section: Section, now: SectionState, baseline: Baseline, kept: Set[str], point: SamplePoint
) -> Emission | None:
    base = baseline.get(section.id, Unknown())
    is_kept: _Kept = "kept" if section.id in kept else "gone"
    notice: Notice | None
    match TRUTH_TABLE[_base(base), is_kept, _now(now, base)], now:
        case "removal", _:
            notice, text = "removal", section.removal_notice
        case "replacement", Known(text=body):
            notice, text = "replacement", with_notice(section.replacement_notice, body)
        case "body", Known(text=body):
            notice, text = None, body
        case _:
            return None
    message_id = point.message_id(section.id)
    return Emission(section=section.id, message_id=message_id, notice=notice, text=text, state=now)


def _base(base: SectionBaseline) -> _Base:
    if isinstance(base, Known):
        return "known"
    return "absent" if isinstance(base, Absent) else "unknown"


def _now(now: SectionState, base: SectionBaseline) -> _Now:
    if isinstance(now, Absent):
        return "absent"
    return "same" if now == base else "other"
