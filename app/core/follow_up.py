"""What is known of a turn once a model has answered: whether another call follows.

Source: docs/semantics/usage.md#after-a-sample.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """What a worker says of the answer that it reports."""

    model_needs_follow_up: bool
    """The answer asks for tools, or says that its turn has not ended."""
    has_pending_input: bool = False
    """Somebody wrote meanwhile, which is to be answered in the same turn."""

    @property
    def needs_follow_up(self) -> bool:
        """Whether another call follows in this turn."""
        return self.model_needs_follow_up or self.has_pending_input
