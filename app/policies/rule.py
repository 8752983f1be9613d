"""Line rules: where a session's limits lie, and whether a request is over them.

Source: docs/policies.md.
"""

from typing import ClassVar, Protocol

from app.core.limits import AfterFailure, Decision, Limits, Relief
from app.core.model_profile import ModelProfile
from app.core.policy import Measured, Whole
from app.policies.rollover import NoticeSettings
from app.policies.window_status import WindowStatus


class LineRule(Protocol):
    """A mechanism of limits together with its own values, which are fields of the rule."""

    after_failure: ClassVar[AfterFailure]
    decides_once_per_turn: ClassVar[bool]
    """Whether only the first call of a turn may compact."""

    @property
    def notices(self) -> NoticeSettings:
        """When a model is told that its window runs out."""

    @property
    def line_percent(self) -> int:
        """Share at which a session compacts, in percent; of what, the rule says."""

    def percent_override(self, percent: int) -> tuple[str, object]:
        """Which value of the policy a percentage of the line sets, and to what."""

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The limits of a call that reserves so much for its answer."""

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Whether to send a request or to compact first."""

    def starting_total(self, estimated_tokens: int, whole: Whole) -> int:
        """What a context holds as its window starts, until a provider says.

        Args:
            estimated_tokens: Of system parts and messages.
            whole: The conversation of the new window.
        """

    def relief(self, limits: Limits) -> Relief:
        """What pruning or a compaction must bring to be worth it."""

    def status(self, measured: Measured, limits: Limits) -> WindowStatus:
        """How far the window is from its limits."""
