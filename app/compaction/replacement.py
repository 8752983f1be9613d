"""The replacement: a conversation that is given whole, after a compaction of its front.

Source: docs/semantics/compaction.md#the-replacement.
"""

from dataclasses import dataclass

from app.compaction.contributors import Evidence, collect_state, sections_of
from app.compaction.errors import EmptyConversation, NothingToCompact
from app.compaction.file_changes import artifacts_of
from app.compaction.record import CompactionPhase
from app.compaction.reminder import render_reminder
from app.compaction.runtime_state import RuntimeState
from app.compaction.style import Folded, Style
from app.compaction.turn_plan import TurnPlan
from app.core.counting import TokenCounter
from app.core.items import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenCompaction:
    """A compaction of a conversation that its caller keeps."""

    compaction_id: str
    keep_from: int
    """Index of the first item that is not folded."""
    phase: CompactionPhase
    context: tuple[Item, ...]
    """The folded world-state messages that still tell how things are."""
    summary: str
    """Taken as it is: whether it is usable is asked of `check_summary`."""
    base: RuntimeState
    """Of the compaction before."""
    plan: TurnPlan | None
    """Of the turn that compacts; None where no turn does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """A conversation as it is seen after a compaction."""

    items: tuple[Item, ...]
    hidden: tuple[int, ...]
    """Indexes of the items that are no longer seen."""


def replace_conversation(
    items: tuple[Item, ...], given: GivenCompaction, style: Style, counter: TokenCounter
) -> Replaced:
    """A conversation that is given whole, after a compaction of its front.

    Raises:
        EmptyConversation, NothingToCompact, MissingLastUser: There is nothing
            to fold, or no request to preserve in it.
        StateError: The runtime state cannot be collected or rendered.
    """
    folded = items[: given.keep_from]
    if not items:
        raise EmptyConversation("conversation is empty and cannot be compacted")
    if not folded:
        raise NothingToCompact("no message of the conversation may be folded")
    state = collect_state(given.base, Evidence(artifacts=artifacts_of(items), plan=given.plan))
    standing = style.replacement(
        Folded(
            compaction_id=given.compaction_id,
            items=folded,
            replaced_through_sequence=max(item.depends_on for item in folded),
            phase=given.phase,
            summary=given.summary,
            reminder=render_reminder(sections_of(state)) if style.reminds else None,
            context=given.context,
            counter=counter,
        )
    )
    return Replaced(
        items=(*standing, *items[given.keep_from :]),
        hidden=tuple(
            index
            for index, item in enumerate(folded)
            if not any(shown is item for shown in standing)
        ),
    )
