"""The manifest: every rule that Foreword follows, and the link from a test to it.

A test names the rules it shows: `@requirement("OW-4.2-prune-head-and-tail")`, or
`marks=requirement(...)` on one row of a table. `tests/test_requirements.py` holds
that each rule in force has a test and that no deferred rule has one.
"""

import pytest

from tests.requirements.awaken import AWAKEN
from tests.requirements.codex import CODEX
from tests.requirements.goose import GOOSE
from tests.requirements.openwork import OPENWORK
from tests.requirements.openwork_acceptance import OPENWORK_ACCEPTANCE
from tests.requirements.openwork_world_state import OPENWORK_WORLD_STATE
from tests.requirements.rule import Requirement

__all__ = ["REQUIREMENTS", "Requirement", "requirement"]

REQUIREMENTS: tuple[Requirement, ...] = (
    *OPENWORK,
    *OPENWORK_WORLD_STATE,
    *OPENWORK_ACCEPTANCE,
    *CODEX,
    *GOOSE,
    *AWAKEN,
)

_KNOWN_IDS = frozenset(rule.id for rule in REQUIREMENTS)


def requirement(*ids: str) -> pytest.MarkDecorator:
    """A marker that names the rules a test shows.

    Raises:
        LookupError: No id was given, or one names no rule.
    """
    unknown = sorted(set(ids) - _KNOWN_IDS)
    if unknown or not ids:
        raise LookupError(f"no such requirement: {unknown}")
    return pytest.mark.requirement(*ids)
