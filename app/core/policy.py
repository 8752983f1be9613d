"""Policies as the engine knows them: values to shorten by, limits, and a decision.

Source: docs/policies.md.
"""

from dataclasses import dataclass
from typing import Protocol

from app.core.items import Item
from app.core.limits import AfterFailure, Decision, Limits, Phase, Relief, ToolOrder
from app.core.model_profile import ModelProfile
from app.core.shaping import Shaping
from app.core.text_estimate import text_tokens
from app.core.trimming import Measure
from app.core.usage import UsageState


class Whole(Protocol):
    """A conversation as it is shown, whatever of it a request carries."""

    @property
    def message_count(self) -> int | None:
        """Messages of whatever role, and what stands for a fold. None: nobody knows."""

    @property
    def text_tokens(self) -> int:
        """Its texts alone (`app.core.text_estimate`)."""

    @property
    def chat_tokens(self) -> int:
        """Its messages, each counted as a chat of its own (`app.core.chat_count`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItems:
    """A conversation whose sizes are found out when somebody asks."""

    items: tuple[Item, ...]
    chat: Measure
    """Counts one of them as a chat of its own."""

    @property
    def message_count(self) -> int:
        """How many items there are."""
        return len(self.items)

    @property
    def text_tokens(self) -> int:
        """A quarter of the bytes of all texts, rounded down once."""
        return text_tokens(self.items)

    @property
    def chat_tokens(self) -> int:
        """The sum over the items."""
        return sum(map(self.chat, self.items))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A request copy by every counter, and what is known of the calls before it."""

    profile: ModelProfile
    estimated_tokens: int
    """JSON bytes divided by four, rounded up once per region."""
    tokenizer_tokens: int
    calibrated_tokens: int | None
    """None before a provider's first report."""
    fixed_tokens: int
    """Of `estimated_tokens`, what no compaction changes: system parts and tools."""
    least_fixed_tokens: int
    """The same by the estimate or the tokenizer, whichever has less."""
    items: tuple[Item, ...]
    """The conversation as it would be sent."""
    whole: Whole
    usage: UsageState
    phase: Phase


class Policy(Protocol):
    """The values and rules by which a session is measured and shortened."""

    @property
    def max_tool_result_tokens(self) -> int:
        """What one projected tool result may take."""

    @property
    def prune_tool_result_chars(self) -> int:
        """Code points up to which an old tool result stays whole."""

    @property
    def auto_prune(self) -> bool:
        """Whether old tool results are shortened before a compaction is asked for."""

    @property
    def shaping(self) -> Shaping:
        """What else is made shorter."""

    @property
    def after_failed_compaction(self) -> AfterFailure:
        """What becomes of a model call whose compaction failed."""

    @property
    def decides_once_per_turn(self) -> bool:
        """Whether only the first call of a turn may ask for a compaction."""

    @property
    def tool_order(self) -> ToolOrder:
        """The order in which tools are advertised."""

    def limits(self, profile: ModelProfile, reserved_output_tokens: int) -> Limits:
        """The limits of a call that reserves so much for its answer."""

    def decide(self, measured: Measured, limits: Limits) -> Decision:
        """Whether to send a request or to compact first."""

    def relief(self, limits: Limits) -> Relief:
        """What pruning or a compaction must bring to be worth it."""
