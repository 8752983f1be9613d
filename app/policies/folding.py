"""Foldings: in which style a policy compacts, with the values of that style.

Source: docs/policies.md.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from app.core.limits import AfterFailure

StyleName: TypeAlias = Literal["openwork"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkFolding:
    """The last user request, a summary in nine sections, and a reminder."""

    style: ClassVar[StyleName] = "openwork"
    after_failure: ClassVar[AfterFailure] = "blocked"


Folding: TypeAlias = OpenWorkFolding
