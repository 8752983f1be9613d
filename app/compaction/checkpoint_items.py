"""What a checkpoint keeps of the items that stand for its fold, so that they never change.

A stored message is named, and its bytes are read from where they are; what
was made for the compaction is kept as text, and what a provider made as it
came.

Source: docs/semantics/compaction.md#records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from app.core.blocks import Text, text_block
from app.core.content import decode_content
from app.core.counting import TokenCounter
from app.core.facts import Form, form_of
from app.core.items import Item
from app.core.messages import Real, Role, Source, Synthetic, SyntheticReason
from app.core.stored import StoredMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptItem:
    """A stored message as it is."""

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedItem:
    """A stored message under an id of the checkpoint's own."""

    message_id: str
    reason: SyntheticReason
    suffix: str
    """Follows the compaction's id and a colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeItem:
    """A message of texts."""

    reason: SyntheticReason
    suffix: str
    role: Role
    text: str
    more: tuple[str, ...] = ()
    """Of the text blocks behind the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueItem:
    """What a provider made for a fold of its own: an assistant message that only it can read."""

    suffix: str
    content: str
    """The canonical content array."""


CheckpointItem: TypeAlias = KeptItem | ReplayedItem | MadeItem | OpaqueItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """The stored request behind an anchor, and its whole content."""

    message_id: str
    content: bytes


def checkpoint_items(
    items: Sequence[Item], compaction_id: str, anchor: Anchored | None
) -> tuple[CheckpointItem, ...]:
    """What to keep of the items of a replacement; a replay of the anchor is named, not copied."""
    return tuple(_kept(item, compaction_id, anchor) for item in items)


def items_again(
    kept: Sequence[CheckpointItem],
    stored: Mapping[str, StoredMessage],
    compaction_id: str,
    replaced_through_sequence: int,
    counter: TokenCounter,
) -> tuple[Item, ...]:
    """The items of a checkpoint, with the same bytes every time.

    Args:
        kept: What the checkpoint keeps of them.
        stored: The stored messages that it names, by id.
        compaction_id: Begins the ids of what is not stored.
        replaced_through_sequence: The install boundary, which all of them depend on.
        counter: Counts what was made.
    """

    def item(entry: CheckpointItem) -> Item:
        if isinstance(entry, OpaqueItem):
            form = form_of("assistant", decode_content(entry.content.encode()), counter)
            source = Synthetic(reason="provider_fold", id=f"{compaction_id}:{entry.suffix}")
            return _item("assistant", form, source, replaced_through_sequence)
        if isinstance(entry, MadeItem):
            blocks = tuple(map(text_block, (entry.text, *entry.more)))
            form = form_of(entry.role, blocks, counter)
            return _item(entry.role, form, made(entry), replaced_through_sequence)
        found = stored[entry.message_id]
        message = found.message
        form = Form(content=message.content, facts=message.facts)
        if isinstance(entry, ReplayedItem):
            return _item(message.role, form, made(entry), replaced_through_sequence)
        stored_as = Real(id=message.id, sequence=found.sequence)
        same = _item(message.role, form, stored_as, replaced_through_sequence)
        return replace(same, kind=message.kind)

    def made(entry: MadeItem | ReplayedItem) -> Synthetic:
        return Synthetic(reason=entry.reason, id=f"{compaction_id}:{entry.suffix}")

    return tuple(map(item, kept))


def named_messages(kept: Sequence[CheckpointItem]) -> list[str]:
    """The ids of the stored messages that a checkpoint names."""
    return [entry.message_id for entry in kept if isinstance(entry, KeptItem | ReplayedItem)]


def with_reminder(kept: Sequence[CheckpointItem], reminder: str) -> tuple[CheckpointItem, ...]:
    """The items with another reminder in place of theirs."""
    return tuple(
        replace(entry, text=reminder)
        if isinstance(entry, MadeItem) and entry.reason == "system_reminder"
        else entry
        for entry in kept
    )


def _kept(item: Item, compaction_id: str, anchor: Anchored | None) -> CheckpointItem:
    source = item.source
    if isinstance(source, Real):
        assert source.id is not None
        return KeptItem(message_id=source.id)
    suffix = source.id.removeprefix(f"{compaction_id}:")
    if anchor is not None and item.content == anchor.content:
        return ReplayedItem(message_id=anchor.message_id, reason=source.reason, suffix=suffix)
    blocks = decode_content(item.content)
    text, *more = [block.text for block in blocks if isinstance(block, Text)]
    assert len(blocks) == 1 + len(more)
    return MadeItem(
        reason=source.reason, suffix=suffix, role=item.role, text=text, more=tuple(more)
    )


def _item(role: Role, form: Form, source: Source, depends_on: int) -> Item:
    return Item(
        role=role,
        kind="normal",
        content=form.content,
        facts=form.facts,
        source=source,
        depends_on=depends_on,
    )
