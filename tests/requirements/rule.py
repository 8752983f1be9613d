"""The shape of one rule in the manifest."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Seed: TypeAlias = Literal["openwork", "codex", "goose", "awaken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One rule of a system that Foreword follows, stated as behaviour."""

    id: str
    seed: Seed
    """Which of the four systems the rule comes from."""
    section: str
    """The section of that system's document."""
    behaviour: str
    deferred: str | None
    """Why no test shows the rule yet; None for a rule in force."""


def rules(
    seed: Seed, section: str, *pairs: tuple[str, str], deferred: str | None = None
) -> tuple[Requirement, ...]:
    """The rules of one section, given as pairs of id and behaviour."""
    return tuple(
        Requirement(id=id_, seed=seed, section=section, behaviour=behaviour, deferred=deferred)
        for id_, behaviour in pairs
    )
