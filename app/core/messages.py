"""Messages: who speaks, what sort of message it is, and where it comes from.

A user request is role user and kind `normal` and real, never the role alone.

Source: docs/semantics/messages.md.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Kind: TypeAlias = Literal["normal", "skill_instruction", "agent_message", "world_state"]

SyntheticReason: TypeAlias = Literal[
    "last_user_request_replay",
    "compaction_summary",
    "provider_fold",
    "system_reminder",
    "tool_pair_summary",
    "interrupted_tool_result",
    "placeholder",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """A message that somebody sent. Without an id it is live: not stored yet."""

    id: str | None = None
    sequence: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """A message that was made here, for the request only."""

    reason: SyntheticReason
    id: str


Source: TypeAlias = Real | Synthetic
