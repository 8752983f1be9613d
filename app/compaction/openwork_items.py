"""OpenWork's replacement: three items that stand for everything folded.

Source: docs/semantics/compaction.md#the-replacement.
"""

from dataclasses import dataclass

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
