"""Line rules: where a session's limits lie, and whether a request is over them.

Source: docs/policies.md.
"""

from typing import ClassVar, Protocol

from app.core.limits import AfterFailure, Decision, Limits, Relief
from app.core.model_profile import ModelProfile
from app.core.policy import Measured


class LineRule(Protocol):
    """A mechanism of limits together with its own values, which are fields of the rule."""

    after_failure: ClassVar[AfterFailure]

    @property
    def auto_compact_percent(self) -> int:
        """Share at which a session compacts, 1 to 100; of what, the rule says."""

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The limits of a call that reserves so much for its answer."""

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Whether to send a request or to compact first."""

    def relief(self, limits: Limits) -> Relief:
        """What pruning or a compaction must bring to be worth it."""
