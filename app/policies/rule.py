"""Line rules: where a session's limits lie, and whether a request is over them.

Source: docs/policies.md.
"""

from typing import Protocol

from app.core.limits import Decision, Limits
from app.core.model_profile import ModelProfile
from app.core.policy import Measured
from app.policies.codex_status import WindowStatus


class LineRule(Protocol):
    """A mechanism of limits together with its own values, which are fields of the rule."""

    def limits(
        self, profile: ModelProfile, reserved_output_tokens: int, auto_compact_percent: int
    ) -> Limits:
        """The limits of a call that reserves so much for its answer."""

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Whether to send a request or to compact first."""

    def status(self, measured: Measured, limits: Limits) -> WindowStatus:
        """How far the window is from its limits."""
