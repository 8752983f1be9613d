"""Batches of tool pairs: which are due, what a model is asked of each, and what stands for them.

Source: docs/semantics/goose.md#tool-pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.compaction.checkpoint_items import MadeItem
from app.compaction.fence import fenced
from app.compaction.instructions import with_focus
from app.compaction.ladder import UNCOUNTED
from app.compaction.message_text import conversation_text
from app.compaction.plan_key import PlanContent, plan_key
from app.compaction.record import PlannedPair
from app.compaction.summary_request import SummaryInput, SummaryRequest, assemble
from app.compaction.tool_pairs import BATCH, PAIR_PROMPT, PairGroup, oldest_calls, pair_groups
from app.core.blocks import text_block
from app.core.engine import told_copy
from app.core.facts import form_of
from app.core.items import Item, message_id, stored_sequence
from app.core.tool_surface import Surface, SystemMessage
from app.core.user_requests import last_user_request
from app.core.visibility import Shown

PAIR_INTRODUCTION = (
    "Context, not a request: a summary of an earlier tool call and its result, which are no longer"
    " shown."
)
"""Stands in front of a summary, which has role user and would be read as what somebody said."""
PAIR_KEY = "core/pair-summariser"
"""The system part that holds the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContent:
    """What makes two batches the same."""

    policy: Mapping[str, object]
    model: str
    view_id: str | None
    pairs: Sequence[Item]
    """The messages of all its pairs."""
    instructions: str | None


def due_groups(items: Sequence[Item], cutoff: int) -> tuple[PairGroup, ...]:
    """The whole groups among the calls that are due; none before a batch is over the cut-off."""
    call_ids = [call.id for item in items for call in item.facts.calls]
    if len(call_ids) <= cutoff + BATCH:
        return ()
    due = oldest_calls(call_ids, cutoff, protected_calls(items))
    groups, _ = pair_groups([Shown(item=item) for item in items], due) if due else ((), ())
    return groups


def protected_calls(items: Sequence[Item]) -> int:
    """How many calls, at the end, are of the current reply.

    It begins behind the last user request; without one it is the trailing run of calls, results
    and world state.
    """
    start = last_user_request(items)
    if start is None:
        start = max((i for i, item in enumerate(items) if not _is_tool_activity(item)), default=-1)
    return sum(len(item.facts.calls) for item in items[start + 1 :])


def planned_pair(items: Sequence[Item], group: PairGroup) -> PlannedPair:
    """A group by the ids and sequences of its messages, which are stored."""
    found = [items[index] for index in group.indexes]
    sequences = [stored_sequence(item) for item in found]
    ids = [message_id(item) for item in found]
    return PlannedPair(
        call_ids=group.call_ids,
        message_ids=tuple(id_ for id_ in ids if id_ is not None),
        sequences=tuple(sequence for sequence in sequences if sequence is not None),
    )


def batch_key(content: BatchContent) -> str:
    """The plan key of a batch: never that of a fold of the same messages."""
    return plan_key(
        PlanContent(
            policy=content.policy,
            model=content.model,
            folded=content.pairs,
            boundaries={"kind": "tool_pairs", "view_id": content.view_id},
            instructions=content.instructions,
        )
    )


def pair_request(given: SummaryInput) -> SummaryRequest:
    """What a model is asked of one pair, which is all of `items`. Equal input gives equal bytes."""
    prompt = with_focus(PAIR_PROMPT, given.instructions)
    form = form_of("system", (text_block(prompt),), UNCOUNTED)
    surface = Surface(system=(SystemMessage(key=PAIR_KEY, form=form),), tools=())
    told = conversation_text(told_copy(given.items, given.context))
    return assemble(given, 0, "flat", surface, (), (fenced("conversation", told),))


def made_summary(number: int, text: str) -> MadeItem:
    """What stands for a pair: the summary behind a line that says what it is."""
    return MadeItem(
        reason="tool_pair_summary",
        suffix=f"pair-{number}",
        role="user",
        text=f"{PAIR_INTRODUCTION}\n\n{text}",
    )


def at_place(item: Item, sequence: int) -> Item:
    """A made summary in the place of a stored message."""
    return replace(item, depends_on=sequence)


def _is_tool_activity(item: Item) -> bool:
    return item.role == "tool" or item.kind == "world_state" or bool(item.facts.calls)
