"""Tool loops: what the assistant says from a user's message to the next one.

Source: docs/semantics/encoders.md#turns.
"""

from collections.abc import Callable, Iterator, Sequence

from app.core.blocks import Thinking
from app.encoders.request import NeutralMessage


def kept_loops(
    messages: Sequence[NeutralMessage], is_replayed: Callable[[Thinking], bool]
) -> frozenset[int]:
    """Indexes of the messages whose loops keep all their thinking.

    A loop of which any thinking cannot be sent back loses all of it: a
    provider that signs its thinking wants to see the whole of a loop, or none.
    """
    return frozenset(
        index
        for loop in loops(messages)
        if all(is_replayed(block) for index in loop for block in _thinking(messages[index]))
        for index in loop
    )


def loops(messages: Sequence[NeutralMessage]) -> Iterator[list[int]]:
    """The indexes of the assistant's messages of each loop."""
    loop: list[int] = []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            loop.append(index)
        elif message.role == "user":
            yield loop
            loop = []
    yield loop


def _thinking(message: NeutralMessage) -> Iterator[Thinking]:
    return (block for block in message.blocks if isinstance(block, Thinking))
