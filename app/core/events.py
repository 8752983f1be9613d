"""What a session tells those who listen: that something happened, never what was said.

Source: docs/semantics/events.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core import canonical
from app.core.errors import ContextError

EventType: TypeAlias = Literal[
    "compaction_needed", "history_replaced", "compaction_completed", "prefix_broken"
]


class TooManyStreams(ContextError):
    """The process gives events to as many listeners as it may."""

    code = "too_many_streams"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a session."""

    type: EventType
    session_id: str
    about: Mapping[str, object]
    """Ids, kinds and numbers; nothing that a message says."""

    def data(self) -> bytes:
        """The event as listeners read it: JSON in one line."""
        return canonical.encode({"session_id": self.session_id, "type": self.type, **self.about})
