"""Foldings: in which style a policy compacts, with the values of that style.

Source: docs/policies.md.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

StyleName: TypeAlias = Literal["openwork", "codex"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkFolding:
    """The last user request, a summary in nine sections, and a reminder."""

    style: ClassVar[StyleName] = "openwork"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexFolding:
    """The newest user messages, and a summary in the model's own words."""

    style: ClassVar[StyleName] = "codex"

    kept_user_message_tokens: int = 20_000
    """What the user messages that outlive a compaction may take (Codex CLI's number)."""


Folding: TypeAlias = OpenWorkFolding | CodexFolding
