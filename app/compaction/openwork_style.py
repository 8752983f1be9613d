"""OpenWork's style: the last user request, a summary in nine sections, and a reminder.

Source: docs/semantics/compaction.md#styles.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from app.compaction.anchor import anchor_index
from app.compaction.fold import FoldPlan, plan_fold
from app.compaction.openwork_items import CheckpointContent, replacement_items
from app.compaction.protocol import SPENDING, Report
from app.compaction.record import MAX_ATTEMPTS, CompactionPhase
from app.compaction.style import Folded
from app.compaction.summary_check import SummaryCheck, check_summary
from app.compaction.summary_request import SummaryInput, SummaryRequest, build_summary_request
from app.core.facts import Form
from app.core.items import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkStyle:
    """The style of preset `openwork`."""

    max_attempts: ClassVar[int] = MAX_ATTEMPTS
    spends: ClassVar[frozenset[Report]] = SPENDING
    ends: ClassVar[frozenset[Report]] = frozenset()
    reminds: ClassVar[bool] = True
    bare_prompt_by_hand: ClassVar[bool] = True

    def fold(
        self, items: tuple[Item, ...], phase: CompactionPhase, gone_message_ids: Set[str]
    ) -> FoldPlan:
        """All that may be folded, in whatever phase, with a user request in it."""
        del phase
        return plan_fold(items, gone_message_ids)

    def request(self, given: SummaryInput) -> SummaryRequest:
        """The request on the lowest rung of the ladder that fits."""
        return build_summary_request(given)

    def check(self, text: str, finish_reason: str | None, tool_calls: int) -> SummaryCheck:
        """One root block with nine sections, or the first fault."""
        return check_summary(text, finish_reason, tool_calls)

    def replacement(self, folded: Folded) -> tuple[Item, ...]:
        """Replay, summary and reminder."""
        assert folded.reminder is not None
        anchor = folded.items[anchor_index(folded.items)]
        content = CheckpointContent(
            compaction_id=folded.compaction_id,
            replaced_through_sequence=folded.replaced_through_sequence,
            anchor_role=anchor.role,
            anchor=Form(content=anchor.content, facts=anchor.facts),
            summary=folded.summary,
            reminder=folded.reminder,
        )
        return replacement_items(content, folded.counter)
