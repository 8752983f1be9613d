"""Fixing a conversation: small passes, until a provider takes it.

It is for what was never checked: imported histories, and views from which a
compaction or somebody hid messages. What the passes change, they tell.

Source: docs/semantics/goose.md#fixing.
"""

from collections.abc import Sequence, Set

from app.core.fix_passes import Fixed, Said, passes


def fix(messages: Sequence[Said], waiting: Set[str] = frozenset()) -> Fixed:
    """The messages after so many runs that nothing changes any more.

    A conversation that was fixed stays as it is, and nothing is told of it.
    Every run but the last takes a block or a message away, fills an empty
    result or puts in a placeholder, so they come to an end.

    Args:
        messages: As the agent's model would get them.
        waiting: Ids of calls that somebody may still answer: they stay, and so do their results.
    """
    current = Fixed(messages=tuple(messages))
    while True:
        fixed = fix_once(current.messages, waiting)
        if fixed.messages == current.messages:
            return current
        current = Fixed(messages=fixed.messages, issues=(*current.issues, *fixed.issues))


def fix_once(messages: Sequence[Said], waiting: Set[str] = frozenset()) -> Fixed:
    """The messages after every pass has run once. A second run may find something more."""
    current = Fixed(messages=tuple(messages))
    for each in passes(waiting):
        fixed = each(current.messages)
        current = Fixed(messages=fixed.messages, issues=(*current.issues, *fixed.issues))
    return current


def in_places(fixed: Sequence[Said], hidden: Sequence[bool]) -> tuple[Said | int, ...]:
    """Fixed messages among the hidden ones, which keep their places.

    The first fixed message goes to the first visible place and so on; places
    that are left over vanish. Without a visible place a placeholder has none.

    Args:
        fixed: What the visible messages became.
        hidden: Of every message of the conversation, in order.

    Returns:
        Messages, and in between the indexes of the hidden ones.
    """
    left = iter(fixed)
    placed = (index if is_hidden else next(left, None) for index, is_hidden in enumerate(hidden))
    return tuple(message for message in placed if message is not None)
