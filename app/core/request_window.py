"""What a request shows of a run: instructions, the prelude of producers, and the transcript.

Source: docs/semantics/awaken.md#the-request.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.core.counting import TokenCounter
from app.core.items import Item
from app.core.tool_rounds import clean_tool_rounds
from app.core.trimming import Measure, Trimming, trim

MOST_MESSAGES = 2**63 - 1
"""The largest number of messages that can be told; a window beyond it is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredWindow:
    """The tail that was kept by a fold, and how long the conversation was then."""

    keep_last: int
    conversation_len: int

    def effective_keep(self, current_len: int) -> int | None:
        """The tail that begins at the same message still; None is the whole conversation.

        A conversation that became shorter is another one than was folded.
        """
        if current_len < self.conversation_len:
            return None
        keep = self.keep_last + (current_len - self.conversation_len)
        return keep if keep <= MOST_MESSAGES else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestParts:
    """What a request is made of."""

    instructions: Item | None
    """The system message of the agent; None where the agent has no instructions."""
    prelude: Mapping[str, tuple[Item, ...]]
    """Messages of producers, by producer; they stand in the order of the producers' names."""
    transcript: tuple[Item, ...]
    trimming: Trimming
    window: AnchoredWindow | None
    """Of the fold whose summary is in the prelude."""


def shown_items(parts: RequestParts, measure: Measure, counter: TokenCounter) -> tuple[Item, ...]:
    """The messages of a request, trimmed, and behind a fold the tail alone.

    The prelude is cleaned by itself before anything is counted, so that the
    window never takes a message of it for one of the transcript.
    """
    produced = [item for name in sorted(parts.prelude) for item in parts.prelude[name]]
    instructions = () if parts.instructions is None else (parts.instructions,)
    front = (*instructions, *clean_tool_rounds(produced, counter))
    keep = _kept_by_window(parts)
    if keep is None:
        return trim((*front, *parts.transcript), parts.trimming, measure, counter)
    tail = trim(parts.transcript, Trimming(keep_last=keep), measure, counter)
    return trim((*front, *tail), parts.trimming, measure, counter)


def _kept_by_window(parts: RequestParts) -> int | None:
    if parts.window is None:
        return None
    return parts.window.effective_keep(len(parts.transcript))
