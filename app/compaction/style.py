"""Styles: how a compaction folds, what it asks a model, and what takes the fold's place.

The protocol of a compaction is the same in every style. A style is a value
without state; which one serves a session is said by the session's policy.

Source: docs/semantics/compaction.md#styles.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar, Protocol

from app.compaction.fold import FoldPlan
from app.compaction.protocol import Report
from app.compaction.record import CompactionPhase
from app.compaction.summary_check import SummaryCheck
from app.compaction.summary_request import SummaryInput, SummaryRequest
from app.core.counting import TokenCounter
from app.core.items import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What a summary replaces, and what stands for it beside the summary."""

    compaction_id: str
    items: tuple[Item, ...]
    """The folded ones, in order."""
    replaced_through_sequence: int
    """The install boundary, which all that is made here depends on."""
    phase: CompactionPhase
    summary: str
    reminder: str | None
    """None where the style has none."""
    context: tuple[Item, ...]
    """The folded world-state messages that still tell how things are."""
    counter: TokenCounter


class Style(Protocol):
    """One way to compact."""

    max_attempts: ClassVar[int]
    """Summaries that are asked for before a compaction fails."""
    spends: ClassVar[frozenset[Report]]
    """Reports that use up an attempt. After any other one all of them are left again."""
    ends: ClassVar[frozenset[Report]]
    """Reports after which nobody is asked again."""
    reminds: ClassVar[bool]
    """Whether the runtime state is told to the model, in a reminder."""
    bare_prompt_by_hand: ClassVar[bool]
    """Whether a manual compaction is asked for without the rules of the agent's tools."""

    def fold(
        self, items: tuple[Item, ...], phase: CompactionPhase, gone_message_ids: Set[str]
    ) -> FoldPlan:
        """What a compaction in that phase folds.

        Raises:
            EmptyConversation, MissingLastUser, NothingToCompact: It would fold nothing.
        """

    def request(self, given: SummaryInput) -> SummaryRequest:
        """What a model is asked. Equal input gives equal bytes."""

    def check(self, text: str, finish_reason: str | None, tool_calls: int) -> SummaryCheck:
        """The summary in a model's answer, or what is wrong with the answer."""

    def replacement(self, folded: Folded) -> tuple[Item, ...]:
        """The items in place of the fold: stored ones as they are, made ones with ids here.

        Raises:
            EmptyConversation, MissingLastUser: The fold lacks what has to be preserved.
        """
