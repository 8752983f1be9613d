"""Where in a session a sample is taken, and the message ids that follow from it.

Source: docs/semantics/world-state.md#message-ids.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePoint:
    """A sample of a turn.

    `model_call` counts the turn's model calls from 1. `sample` is 1 before
    the call and 2 after a compaction within it.
    """

    turn_id: str
    model_call: int
    sample: int

    def message_id(self, section_id: str) -> str:
        """The id of the message about one section: the same sample always gives the same id."""
        return f"world-state:{self.turn_id}:{self.model_call}:{self.sample}:{section_id}"
