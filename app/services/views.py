"""The items of a session as its view shows them."""

from collections import OrderedDict

from app.compaction.record import Compaction
from app.compaction.replacement import CheckpointContent, replacement_items
from app.compaction.view import View
from app.core.counting import TokenCounter
from app.core.facts import Form
from app.core.items import Item
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageRepository

KEPT_CHECKPOINTS = 256
"""Checkpoints whose counted items a process remembers."""


class CheckpointCache:
    """The three items of checkpoints, which never change once they are installed."""

    def __init__(self) -> None:
        self._items: OrderedDict[tuple[str, str], tuple[Item, ...]] = OrderedDict()

    async def items(
        self,
        connection: ReadConnection,
        incarnation: str,
        compaction_id: str,
        counter: TokenCounter,
    ) -> tuple[Item, ...]:
        """The items of a checkpoint that a view names."""
        key = (f"{incarnation}/{compaction_id}", counter.basis)
        known = self._items.get(key)
        if known is not None:
            self._items.move_to_end(key)
            return known
        compaction = await CompactionRepository(connection, incarnation).get(compaction_id)
        content = await checkpoint_content(connection, incarnation, compaction)
        items = replacement_items(content, counter)
        self._items[key] = items
        if len(self._items) > KEPT_CHECKPOINTS:
            self._items.popitem(last=False)
        return items


async def view_items(
    checkpoints: CheckpointCache,
    connection: ReadConnection,
    incarnation: str,
    view: View,
    through_sequence: int,
    counter: TokenCounter,
) -> tuple[Item, ...]:
    """What a view shows when `through_sequence` is the last message."""
    messages = MessageRepository(connection, incarnation)
    items: list[Item] = []
    if view.checkpoint_id is not None:
        items += await checkpoints.items(connection, incarnation, view.checkpoint_id, counter)
    for after, last in (*view.ranges, (view.open_after, through_sequence)):
        if last > after:
            items += await messages.items(after, last)
    return tuple(items)


async def checkpoint_content(
    connection: ReadConnection, incarnation: str, compaction: Compaction
) -> CheckpointContent:
    """What the items of a compaction's checkpoint are made of."""
    checkpoint = compaction.checkpoint
    assert checkpoint is not None
    assert checkpoint.summary is not None
    assert checkpoint.runtime_reminder is not None
    assert checkpoint.last_user_message_id is not None
    messages = MessageRepository(connection, incarnation)
    anchor = (await messages.get(checkpoint.last_user_message_id)).message
    return CheckpointContent(
        compaction_id=compaction.id,
        replaced_through_sequence=checkpoint.replaced_through_sequence,
        anchor_role=anchor.role,
        anchor=Form(content=anchor.content, facts=anchor.facts),
        summary=checkpoint.summary,
        reminder=checkpoint.runtime_reminder,
    )
