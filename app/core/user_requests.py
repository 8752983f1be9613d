"""User requests: what somebody asked for, told from texts that only have their role.

Kind and source decide, never the role alone: skill texts, agent messages,
world state, summaries and reminders have role user and are no requests.

Source: docs/semantics/compaction.md#the-anchor.
"""

from collections.abc import Sequence

from app.core.items import Item
from app.core.messages import Real


def last_user_request(items: Sequence[Item]) -> int | None:
    """The index of the last user request, stored, live or replayed; None without one."""
    for index in range(len(items) - 1, -1, -1):
        if is_user_request(items[index]):
            return index
    return None


def is_user_request(item: Item) -> bool:
    """Whether somebody asked for what an item says."""
    if item.role != "user" or item.kind != "normal":
        return False
    return isinstance(item.source, Real) or item.source.reason == "last_user_request_replay"
