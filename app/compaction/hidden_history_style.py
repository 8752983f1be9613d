"""goose's style: the agent no longer sees what was, and reads a summary of it.

Source: docs/semantics/goose.md#the-style.
"""

from collections.abc import Set
from dataclasses import dataclass, replace
from typing import ClassVar

from app.compaction.errors import EmptyConversation, NothingToCompact
from app.compaction.fold import FoldPlan, fold_end, planned_fold
from app.compaction.hidden_history import Asked, Rewriting, is_context, rewritten_history
from app.compaction.ladder import UNCOUNTED
from app.compaction.middle_out import REMOVED_PERCENTS, LadderEnd, MiddleOut, next_level
from app.compaction.middle_out import without_results as without_middle
from app.compaction.protocol import Report
from app.compaction.record import CompactionPhase
from app.compaction.structured_prompt import SUMMARISE, prompt_behind, structured_prompt
from app.compaction.style import Folded
from app.compaction.summary_check import SummaryAccepted, SummaryCheck, check_text
from app.compaction.summary_request import (
    SummaryInput,
    SummaryRequest,
    assemble,
    copied,
    fits,
)
from app.compaction.summary_template import DEFAULT_TEMPLATE, summary_text
from app.core.blocks import text_block
from app.core.engine import told_copy
from app.core.facts import form_of
from app.core.items import Item
from app.core.tool_surface import Surface, SystemMessage
from app.core.visibility import Shown

SUMMARISER_KEY = "core/summariser"
"""The system part that holds the prompt and the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenHistoryStyle:
    """A structured summary, a continuation, and the request that is being answered."""

    max_attempts: ClassVar[int] = len(REMOVED_PERCENTS)
    spends: ClassVar[frozenset[Report]] = frozenset({"complete_invalid", "fail_context_overflow"})
    ends: ClassVar[frozenset[Report]] = frozenset(
        {"fail_timeout", "fail_transient", "fail_deterministic"}
    )
    reminds: ClassVar[bool] = False
    bare_prompt_by_hand: ClassVar[bool] = False

    middle_out_order: MiddleOut = "centered"
    summary_template: str | None = None
    """None is the built-in one."""

    def fold(
        self, items: tuple[Item, ...], phase: CompactionPhase, gone_message_ids: Set[str]
    ) -> FoldPlan:
        """All that may be folded, in whatever phase, whether or not a user request is in it."""
        del phase
        if not items:
            raise EmptyConversation("conversation is empty and cannot be compacted")
        keep_from = fold_end(items, len(items), gone_message_ids)
        if keep_from == 0:
            raise NothingToCompact("the first message holds a call that still waits for its result")
        return planned_fold(items[:keep_from])

    def request(self, given: SummaryInput) -> SummaryRequest:
        """The request of a level of the ladder; nobody looks whether it fits before it is sent."""
        folded = given.items[: given.keep_from]
        results = sum(bool(item.facts.results) for item in folded)
        problem = given.min_level >= len(REMOVED_PERCENTS) or self._is_at_end(given, results)
        level = min(given.min_level, len(REMOVED_PERCENTS) - 1)
        kept, gone = without_middle(folded, level, self.middle_out_order)
        request = self._cached(given) if given.style == "cached" and level == 0 else None
        if request is None:
            request = self._told(given, level, kept)
        removed = tuple(result.id for index in gone for result in folded[index].facts.results)
        request = replace(request, removed_call_ids=removed)
        return replace(request, problem="cannot_fit") if problem else request

    def check(self, text: str, finish_reason: str | None, tool_calls: int) -> SummaryCheck:
        """The structured summary by the template, else the answer itself, if it is not blank."""
        del finish_reason, tool_calls
        checked = check_text(text)
        if not isinstance(checked, SummaryAccepted):
            return checked
        return SummaryAccepted(summary=summary_text(text, self._template))

    def replacement(self, folded: Folded) -> tuple[Item, ...]:
        """Summary, continuation, the request again, and the newest workspace context behind it."""
        asked: Asked = "by_hand" if folded.phase == "standalone" else "by_itself"
        given = Rewriting(
            compaction_id=folded.compaction_id,
            asked=asked,
            replaced_through_sequence=folded.replaced_through_sequence,
            counter=folded.counter,
        )
        shown = tuple(Shown(item=item) for item in folded.items)
        rewritten = rewritten_history(shown, folded.summary, given)
        return tuple(each.item for each in rewritten[len(shown) :])

    @property
    def _template(self) -> str:
        return DEFAULT_TEMPLATE if self.summary_template is None else self.summary_template

    def _is_at_end(self, given: SummaryInput, results: int) -> bool:
        """Whether the ladder has no level after an overflow of the one below."""
        if given.min_level == 0:
            return False
        below = min(given.min_level, len(REMOVED_PERCENTS)) - 1
        after = next_level("context_overflow", below, results, self.middle_out_order)
        return isinstance(after, LadderEnd)

    def _told(self, given: SummaryInput, level: int, items: tuple[Item, ...]) -> SummaryRequest:
        """The conversation as text in the prompt, and one message that asks for the summary."""
        told = told_copy([item for item in items if not is_context(item)], given.context)
        prompt = structured_prompt(told, given.instructions)
        form = form_of("system", (text_block(prompt),), UNCOUNTED)
        surface = Surface(system=(SystemMessage(key=SUMMARISER_KEY, form=form),), tools=())
        return assemble(given, level, "flat", surface, (), (SUMMARISE,))

    def _cached(self, given: SummaryInput) -> SummaryRequest | None:
        """The session's own request with the prompt behind it; None where it does not fit."""
        items = copied(given, given.items)
        texts = (prompt_behind(given.instructions),)
        request = assemble(given, 0, "cached", given.surface, items, texts)
        limit = given.profile.context_window
        room = None if limit is None else limit - request.max_output_tokens
        return request if fits(request, room) else None
