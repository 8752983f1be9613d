"""Codex CLI's style: the newest user messages, and a summary behind them.

Source: docs/semantics/compaction.md#the-codex-style.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import ClassVar

from app.compaction.codex_request import build_checkpoint_request
from app.compaction.fold import FoldPlan, plan_open_fold
from app.compaction.protocol import SPENDING, Report
from app.compaction.record import MAX_ATTEMPTS, CompactionPhase
from app.compaction.style import Folded
from app.compaction.summary_check import SummaryCheck, check_text
from app.compaction.summary_request import SummaryInput, SummaryRequest
from app.compaction.user_messages import (
    KEPT_USER_MESSAGE_TOKENS,
    Layout,
    kept_user_items,
    lay_out,
    prefixed_summary,
    user_text,
)
from app.core.blocks import text_block
from app.core.facts import Form, form_of
from app.core.items import Item
from app.core.messages import Real, Synthetic, SyntheticReason


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexStyle:
    """The style of preset `codex`."""

    max_attempts: ClassVar[int] = MAX_ATTEMPTS
    spends: ClassVar[frozenset[Report]] = SPENDING - {"fail_context_overflow"}
    ends: ClassVar[frozenset[Report]] = frozenset()
    reminds: ClassVar[bool] = False
    bare_prompt_by_hand: ClassVar[bool] = False

    kept_user_message_tokens: int = KEPT_USER_MESSAGE_TOKENS
    """What the kept user messages may take, 0 and more."""

    def fold(
        self, items: tuple[Item, ...], phase: CompactionPhase, gone_message_ids: Set[str]
    ) -> FoldPlan:
        """Before a turn what the model has answered, else all that may be folded."""
        return plan_open_fold(items, phase, gone_message_ids)

    def request(self, given: SummaryInput) -> SummaryRequest:
        """The history and the checkpoint prompt, the oldest messages dropped until it fits."""
        return build_checkpoint_request(given)

    def check(self, text: str, finish_reason: str | None, tool_calls: int) -> SummaryCheck:
        """Any text that is not blank, as it is; why the model stopped does not matter."""
        del finish_reason, tool_calls
        return check_text(text)

    def replacement(self, folded: Folded) -> tuple[Item, ...]:
        """The kept user messages, in a turn the context before the last of them, the summary."""
        layout: Layout = "mid_turn" if folded.phase == "mid_turn" else "pre_turn"
        form = form_of("user", (text_block(prefixed_summary(folded.summary)),), folded.counter)
        summary = _made(folded, "compaction_summary", "summary", form)
        return lay_out(self._kept(folded), summary, folded.context, layout)

    def _kept(self, folded: Folded) -> tuple[Item, ...]:
        """The kept messages: those that are whole are the stored ones themselves."""
        kept = kept_user_items(folded.items, self.kept_user_message_tokens, folded.counter)
        spoken = [item for item in folded.items if user_text(item)]
        newest = spoken[len(spoken) - len(kept) :]
        return tuple(
            item
            if isinstance(item.source, Real) and item.content == short.content
            else _made(folded, "last_user_request_replay", f"user-{number}", _form(short))
            for number, (item, short) in enumerate(zip(newest, kept, strict=True), start=1)
        )


def _form(item: Item) -> Form:
    return Form(content=item.content, facts=item.facts)


def _made(folded: Folded, reason: SyntheticReason, suffix: str, form: Form) -> Item:
    return Item(
        role="user",
        kind="normal",
        content=form.content,
        facts=form.facts,
        source=Synthetic(reason=reason, id=f"{folded.compaction_id}:{suffix}"),
        depends_on=folded.replaced_through_sequence,
    )
