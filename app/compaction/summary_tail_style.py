"""Awaken's style: a summary, and the newest messages behind it as they are.

Source: docs/semantics/awaken.md#the-style.
"""

from collections.abc import Set
from dataclasses import dataclass, replace
from typing import ClassVar

from app.compaction.artifact import COMPACTOR_INSTRUCTIONS, SUMMARY_TASK
from app.compaction.codex_request import build_checkpoint_request
from app.compaction.fold import FoldPlan
from app.compaction.ladder import UNCOUNTED
from app.compaction.protocol import SPENDING, Report
from app.compaction.record import MAX_ATTEMPTS, CompactionPhase
from app.compaction.run_fold import summary_item
from app.compaction.style import Folded
from app.compaction.summary_check import SummaryCheck, check_text
from app.compaction.summary_request import SummaryInput, SummaryRequest
from app.compaction.tail_fold import Cut, plan_tail_fold
from app.core.blocks import text_block
from app.core.facts import form_of
from app.core.items import Item
from app.core.tool_surface import Surface, SystemMessage

COMPACTOR_KEY = "core/compactor"
"""The system part with the instructions of whoever summarises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTailStyle:
    """A system prompt of the compactor's own, any text as the summary, a tail by its number."""

    max_attempts: ClassVar[int] = MAX_ATTEMPTS
    spends: ClassVar[frozenset[Report]] = SPENDING - {"fail_context_overflow"}
    ends: ClassVar[frozenset[Report]] = frozenset()
    reminds: ClassVar[bool] = False
    bare_prompt_by_hand: ClassVar[bool] = False

    keep_last: int = 8
    """Messages of the tail, 0 and more."""
    cut: Cut = "whole_rounds"
    instructions: str | None = None
    """The prompt; None is the built-in one."""
    agent_instructions: str | None = None
    """In place of the compactor's own."""

    def fold(
        self, items: tuple[Item, ...], phase: CompactionPhase, gone_message_ids: Set[str]
    ) -> FoldPlan:
        """All in front of the tail, in whatever phase."""
        del phase
        return plan_tail_fold(items, self.keep_last, self.cut, gone_message_ids)

    def request(self, given: SummaryInput) -> SummaryRequest:
        """The compactor's instructions, the folded messages, the prompt.

        A cached request is the session's own and a flat one has no system message, so there the
        instructions stand in the prompt.
        """
        task = SUMMARY_TASK if self.instructions is None else self.instructions
        rules = self.agent_instructions
        rules = COMPACTOR_INSTRUCTIONS if rules is None else rules
        if given.style != "conversation":
            return build_checkpoint_request(given, f"{rules}\n\n{task}")
        system = SystemMessage(
            key=COMPACTOR_KEY, form=form_of("system", (text_block(rules),), UNCOUNTED)
        )
        surface = Surface(system=(system,), tools=())
        return build_checkpoint_request(replace(given, surface=surface), task)

    def check(self, text: str, finish_reason: str | None, tool_calls: int) -> SummaryCheck:
        """Any text that is not blank, as it is; why the model stopped does not matter."""
        del finish_reason, tool_calls
        return check_text(text)

    def replacement(self, folded: Folded) -> tuple[Item, ...]:
        """The summary alone: what it does not cover was not folded and stands behind it.

        It is a user message, since requests have system messages in front only.
        """
        made = summary_item(
            folded.summary, f"{folded.compaction_id}:summary", "user", folded.counter
        )
        return (replace(made, depends_on=folded.replaced_through_sequence),)
