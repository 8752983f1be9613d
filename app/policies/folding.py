"""Foldings: in which style a policy compacts, with the values of that style.

Source: docs/policies.md.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

StyleName: TypeAlias = Literal["openwork"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkFolding:
    """The last user request, a summary in nine sections, and a reminder."""

    style: ClassVar[StyleName] = "openwork"


Folding: TypeAlias = OpenWorkFolding
