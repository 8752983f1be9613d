"""Tool rounds: a message with calls, and the run of tool messages directly behind it.

Cleaning removes what is not answered, in place of making an answer for it as
`app.core.normalize` does, and moves nothing.

Source: docs/semantics/awaken.md#tool-rounds.
"""

from collections.abc import Iterator, Sequence, Set

from app.core.blocks import Block, ToolCall, ToolResult
from app.core.content import decode_content
from app.core.counting import TokenCounter
from app.core.facts import form_of
from app.core.items import Item


def clean_tool_rounds(items: Sequence[Item], counter: TokenCounter) -> tuple[Item, ...]:
    """The items in which every call has its result in its own round, and every result its call.

    Calls without a result go, and results without a call; a message goes where
    nothing is left of it. A second cleaning changes nothing. What is whole
    stays the same item.

    Args:
        items: Of a request. Stored messages are not touched.
        counter: Counts the messages that change.
    """
    return tuple(item for _, item in cleaned_rounds(items, counter))


def cleaned_rounds(
    items: Sequence[Item], counter: TokenCounter, waiting: Set[str] = frozenset()
) -> Iterator[tuple[int, Item]]:
    """What is left of each item, with its index.

    Args:
        items: Of a request.
        counter: Counts the messages that change.
        waiting: Ids of calls that somebody may still answer. They stay without a result, and their
            results stay wherever they are behind them.
    """
    waited_for: set[str] = set()
    for start, end in round_bounds(items):
        numbered = list(enumerate(items[start:end], start))
        waited_for.update({call.id for call in items[start].facts.calls} & waiting)
        for index, left in _cleaned(numbered, counter, waited_for):
            if left is not None:
                yield index, left


def round_bounds(items: Sequence[Item]) -> Iterator[tuple[int, int]]:
    """Begin and end of each unit, in order: a round, or any other message alone."""
    start = 0
    while start < len(items):
        end = start + 1
        if items[start].role == "assistant" and items[start].facts.calls:
            while end < len(items) and items[end].role == "tool":
                end += 1
        yield start, end
        start = end


def _cleaned(
    unit: Sequence[tuple[int, Item]], counter: TokenCounter, waiting: Set[str]
) -> Iterator[tuple[int, Item | None]]:
    at, first = unit[0]
    if first.role == "tool":
        yield at, _with_results(first, set(), counter, waiting)
        return
    if first.role != "assistant" or not first.facts.calls:
        yield at, first
        return
    called = {call.id for call in first.facts.calls}
    open_ids = called & {result.id for _, item in unit[1:] for result in item.facts.results}
    open_ids -= waiting
    yield at, _with_calls(first, set(open_ids), counter, waiting)
    # An id leaves the set with its first result, so a second one finds it gone.
    for index, item in unit[1:]:
        yield index, _with_results(item, open_ids, counter, waiting)


def _with_calls(
    item: Item, answered: set[str], counter: TokenCounter, waiting: Set[str]
) -> Item | None:
    """The message with the first call of each answered id, and with the calls that wait."""
    kept: list[Block] = []
    for block in decode_content(item.content):
        if isinstance(block, ToolCall) and block.id not in waiting:
            if block.id not in answered:
                continue
            answered.discard(block.id)
        kept.append(block)
    return _with_blocks(item, kept, counter)


def _with_results(
    item: Item, open_ids: set[str], counter: TokenCounter, waiting: Set[str]
) -> Item | None:
    """The message with the results of open ids, which are then no longer open."""
    kept: list[Block] = []
    for block in decode_content(item.content):
        if isinstance(block, ToolResult) and (block.id in open_ids or block.id in waiting):
            open_ids.discard(block.id)
            kept.append(block)
    return _with_blocks(item, kept, counter)


def _with_blocks(item: Item, blocks: Sequence[Block], counter: TokenCounter) -> Item | None:
    if not blocks:
        return None
    form = form_of(item.role, tuple(blocks), counter)
    return item if form.content == item.content else item.with_form(form)
