"""The anchor: the last user request, which a compaction preserves whole.

Source: docs/semantics/compaction.md#the-anchor.
"""

from collections.abc import Sequence

from app.compaction.errors import EmptyConversation, MissingLastUser
from app.core.items import Item
from app.core.user_requests import last_user_request


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
