"""The world state that a compaction carries over: messages that still tell how things are.

Source: docs/semantics/compaction.md#the-codex-style.
"""

from collections.abc import Sequence

from app.core.blocks import Text
from app.core.content import decode_content
from app.core.items import Item, message_id
from app.core.stored import Session
from app.store.connections import ReadConnection
from app.store.world_state import WorldStateRepository
from app.world_state.sections import BUILT_IN


async def stored_in_force(
    connection: ReadConnection, session: Session, folded: Sequence[Item]
) -> tuple[Item, ...]:
    """The folded messages that carry the baseline of a section, in order.

    A section that was removed has no such message.
    """
    state = WorldStateRepository(connection, session.incarnation)
    carriers = {
        section.message_id
        for section in await state.sections()
        if section.baseline_state == "known"
    }
    return tuple(
        item for item in folded if item.kind == "world_state" and message_id(item) in carriers
    )


def given_in_force(folded: Sequence[Item]) -> tuple[Item, ...]:
    """The newest message of every section in a conversation that is given whole, in order.

    Of a section that is not built in nobody says what its notices are, so all its messages count.
    """
    newest: dict[str, Item] = {}
    told = [item for item in folded if item.kind == "world_state"]
    for number, item in enumerate(told):
        text = _text(item)
        section = next((known for known in BUILT_IN if known.recognises(text)), None)
        key = f"#{number}" if section is None else section.id
        newest.pop(key, None)
        if section is None or text != section.removal_notice:
            newest[key] = item
    return tuple(newest.values())


def _text(item: Item) -> str:
    return "".join(block.text for block in decode_content(item.content) if isinstance(block, Text))
