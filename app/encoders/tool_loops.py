"""Tool loops: what the assistant says from a user's message to the next one.

Source: docs/semantics/encoders.md#turns.
"""

from collections.abc import Callable, Iterator, Sequence

from app.core.blocks import Thinking
from app.encoders.request import NeutralMessage


def kept_thinking(
    messages: Sequence[NeutralMessage], is_replayed: Callable[[Thinking], bool]
) -> frozenset[int]:
    """Indexes of the messages whose thinking goes back.

    A loop keeps its thinking up to the first message that has some which
    cannot go back; from there on it has none. So what comes later takes
    nothing from what was sent.
    """
    kept: set[int] = set()
    for loop in loops(messages):
        for index in loop:
            if not all(map(is_replayed, _thinking(messages[index]))):
                break
            kept.add(index)
    return frozenset(kept)


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
