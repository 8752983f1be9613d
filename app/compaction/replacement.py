"""The replacement: three items that stand for everything folded.

Source: docs/semantics/compaction.md#the-replacement.
"""

from dataclasses import dataclass

from app.compaction.anchor import anchor_index
from app.compaction.contributors import Evidence, collect_state, sections_of
from app.compaction.errors import NothingToCompact
from app.compaction.file_changes import artifacts_of
from app.compaction.reminder import render_reminder
from app.compaction.runtime_state import RuntimeState
from app.compaction.turn_plan import TurnPlan
from app.core.blocks import text_block
from app.core.counting import TokenCounter
from app.core.facts import Form, form_of
from app.core.items import Item
from app.core.messages import Role, Synthetic, SyntheticReason
from app.core.text import trim

SUMMARY_FRAME = (
    "The earlier Conversation was compacted into the following continuation summary. Treat it as"
    " prior conversation context, preserve its uncertainty, and continue from it:"
)
"""OpenWork's text. It keeps a summary from being read as something that the user said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointContent:
    """What of a checkpoint becomes part of a request."""

    compaction_id: str
    replaced_through_sequence: int
    """The install boundary."""
    anchor_role: Role
    anchor: Form
    """The last user request, whole."""
    summary: str
    reminder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenCompaction:
    """A compaction of a conversation that its caller keeps."""

    compaction_id: str
    keep_from: int
    """Index of the first item that is not folded."""
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


def replacement_items(checkpoint: CheckpointContent, counter: TokenCounter) -> tuple[Item, ...]:
    """Replay, summary and reminder, in this order."""
    return (
        _item(checkpoint, "last_user_request_replay", checkpoint.anchor_role, checkpoint.anchor),
        _item(
            checkpoint,
            "compaction_summary",
            "user",
            _text_form(framed_summary(checkpoint.summary), counter),
        ),
        _item(checkpoint, "system_reminder", "user", _text_form(checkpoint.reminder, counter)),
    )


def framed_summary(summary: str) -> str:
    """The text in which a model finds a summary."""
    return f"{SUMMARY_FRAME}\n\n{trim(summary)}"


def replace_conversation(
    items: tuple[Item, ...], given: GivenCompaction, counter: TokenCounter
) -> Replaced:
    """A conversation that is given whole, after a compaction of its front.

    Raises:
        EmptyConversation, NothingToCompact, MissingLastUser: There is nothing
            to fold, or no request to preserve in it.
        StateError: The runtime state cannot be collected or rendered.
    """
    folded = items[: given.keep_from]
    if items and not folded:
        raise NothingToCompact("no message of the conversation may be folded")
    anchor = folded[anchor_index(folded)]
    state = collect_state(given.base, Evidence(artifacts=artifacts_of(items), plan=given.plan))
    checkpoint = CheckpointContent(
        compaction_id=given.compaction_id,
        replaced_through_sequence=max(item.depends_on for item in folded),
        anchor_role=anchor.role,
        anchor=Form(content=anchor.content, facts=anchor.facts),
        summary=given.summary,
        reminder=render_reminder(sections_of(state)),
    )
    return Replaced(
        items=(*replacement_items(checkpoint, counter), *items[given.keep_from :]),
        hidden=tuple(range(len(folded))),
    )


_ID_SUFFIXES: dict[SyntheticReason, str] = {
    "last_user_request_replay": "last-user",
    "compaction_summary": "summary",
    "system_reminder": "reminder",
}


def _item(checkpoint: CheckpointContent, reason: SyntheticReason, role: Role, form: Form) -> Item:
    return Item(
        role=role,
        kind="normal",
        content=form.content,
        facts=form.facts,
        source=Synthetic(reason=reason, id=f"{checkpoint.compaction_id}:{_ID_SUFFIXES[reason]}"),
        depends_on=checkpoint.replaced_through_sequence,
    )


def _text_form(text: str, counter: TokenCounter) -> Form:
    return form_of("user", (text_block(text),), counter)
