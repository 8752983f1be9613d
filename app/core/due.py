"""What a conversation needs, decided by its size before anybody is asked for a summary.

Source: docs/semantics/awaken.md#the-triggers.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Urgency: TypeAlias = Literal["not_due", "soft", "hard"]
"""Nothing, a summary in the background, or a fold now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is due, and for how many of the oldest messages."""

    urgency: Urgency
    fold_to: int
    """Messages in front of the kept tail; 0 where nothing is due."""


NOT_DUE = Due(urgency="not_due", fold_to=0)
