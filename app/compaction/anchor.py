"""The anchor: the last user request, which a compaction preserves whole.

Kind and source decide, never the role alone: skill texts, agent messages,
world state, summaries and reminders have role user and are no requests.

Source: docs/semantics/compaction.md#the-anchor.
"""

from collections.abc import Sequence

from app.compaction.errors import EmptyConversation, MissingLastUser
from app.core.items import Item
from app.core.messages import Real


def last_user_request(items: Sequence[Item]) -> int | None:
    """The index of the last user request, stored, live or replayed; None without one."""
    for index in range(len(items) - 1, -1, -1):
        if is_user_request(items[index]):
            return index
    return None


def anchor_index(items: Sequence[Item]) -> int:
    """The index of the request that a compaction of `items` preserves.

    Raises:
        EmptyConversation: There are no items.
        MissingLastUser: None of them is a user request.
    """
    if not items:
        raise EmptyConversation("conversation is empty and cannot be compacted")
    index = last_user_request(items)
    if index is None:
        raise MissingLastUser("conversation has no real user request to preserve")
    return index


def is_user_request(item: Item) -> bool:
    """Whether somebody asked for what an item says."""
    if item.role != "user" or item.kind != "normal":
        return False
    return isinstance(item.source, Real) or item.source.reason == "last_user_request_replay"
