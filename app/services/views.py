"""The items of a session as its view shows them."""

from collections import OrderedDict
from heapq import merge

from app.compaction.checkpoint_items import KeptItem, ReplayedItem, items_again, named_messages
from app.compaction.pair_batch import at_place
from app.compaction.record import Compaction
from app.compaction.view import PairPlace, View
from app.core.counting import TokenCounter
from app.core.items import Item
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageRepository

KEPT_CHECKPOINTS = 256
"""Checkpoints whose counted items a process remembers."""


_Named = tuple[Item, str | None]
"""An item of a checkpoint, and the stored message that it is or repeats."""


class CheckpointCache:
    """The items of checkpoints, which never change once they are installed."""

    def __init__(self) -> None:
        self._items: OrderedDict[tuple[str, str], tuple[_Named, ...]] = OrderedDict()

    async def items(
        self,
        connection: ReadConnection,
        incarnation: str,
        compaction_id: str,
        counter: TokenCounter,
        visibility_ordinal: int,
    ) -> tuple[Item, ...]:
        """The items of a checkpoint that a view names, without messages that were hidden since."""
        named = await self._named(connection, incarnation, compaction_id, counter)
        if visibility_ordinal == 0:
            return tuple(item for item, _ in named)
        stored = [message_id for _, message_id in named if message_id is not None]
        messages = MessageRepository(connection, incarnation)
        hidden = await messages.hidden_from_agent(stored, visibility_ordinal)
        return tuple(item for item, message_id in named if message_id not in hidden)

    async def _named(
        self,
        connection: ReadConnection,
        incarnation: str,
        compaction_id: str,
        counter: TokenCounter,
    ) -> tuple[_Named, ...]:
        key = (f"{incarnation}/{compaction_id}", counter.basis)
        known = self._items.get(key)
        if known is not None:
            self._items.move_to_end(key)
            return known
        compaction = await CompactionRepository(connection, incarnation).get(compaction_id)
        items = await items_of_checkpoint(connection, incarnation, compaction, counter)
        named = tuple(zip(items, _stored_behind(compaction), strict=True))
        self._items[key] = named
        if len(self._items) > KEPT_CHECKPOINTS:
            self._items.popitem(last=False)
        return named


async def view_items(
    checkpoints: CheckpointCache,
    connection: ReadConnection,
    incarnation: str,
    view: View,
    through_sequence: int,
    counter: TokenCounter,
    visibility_ordinal: int,
) -> tuple[Item, ...]:
    """What a view shows when `through_sequence` is the last message.

    Who sees a message is what the changes through `visibility_ordinal` say.
    """
    messages = MessageRepository(connection, incarnation)
    items: list[Item] = []
    if view.checkpoint_id is not None:
        items += await checkpoints.items(
            connection, incarnation, view.checkpoint_id, counter, visibility_ordinal
        )
    ranges = (*view.ranges, (view.open_after, through_sequence))
    wanted = [(after, last) for after, last in ranges if last > after]
    shown = await messages.items_in(wanted, visibility_ordinal)
    if not view.pairs:
        return (*items, *shown)
    summaries = [
        await _pair_summary(checkpoints, connection, incarnation, pair, counter)
        for pair in view.pairs
    ]
    return (*items, *merge(shown, summaries, key=lambda item: item.depends_on))


async def _pair_summary(
    checkpoints: CheckpointCache,
    connection: ReadConnection,
    incarnation: str,
    pair: PairPlace,
    counter: TokenCounter,
) -> Item:
    # What was made hides behind no change of visibility.
    made = await checkpoints.items(connection, incarnation, pair.compaction_id, counter, 0)
    return at_place(made[pair.index], pair.sequence)


async def items_of_checkpoint(
    connection: ReadConnection, incarnation: str, compaction: Compaction, counter: TokenCounter
) -> tuple[Item, ...]:
    """What stands for the fold of a compaction that has a summary."""
    checkpoint = compaction.checkpoint
    assert checkpoint is not None
    messages = MessageRepository(connection, incarnation)
    return items_again(
        checkpoint.items,
        await messages.by_ids(named_messages(checkpoint.items)),
        compaction.id,
        checkpoint.replaced_through_sequence,
        counter,
    )


def _stored_behind(compaction: Compaction) -> tuple[str | None, ...]:
    """The stored message behind each item of a checkpoint; None where the item was made."""
    checkpoint = compaction.checkpoint
    assert checkpoint is not None
    return tuple(
        entry.message_id if isinstance(entry, KeptItem | ReplayedItem) else None
        for entry in checkpoint.items
    )
