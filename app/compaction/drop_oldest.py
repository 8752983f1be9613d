"""A summary request that was too long is asked again without its oldest item.

Source: docs/semantics/codex.md#a-request-that-was-too-long.
"""

from collections.abc import Sequence

from app.core.items import Item


def drop_oldest(items: Sequence[Item]) -> tuple[Item, ...] | None:
    """The items without the first and all that answers it; None where it is the only one.

    A call takes the first result of its id with it, and a result its call, so
    that what is left is paired as well as it was. An item goes whole: a result
    that shares its message goes too, and its own call with it.
    """
    if len(items) <= 1:
        return None
    gone = {0}
    waiting = [0]
    while waiting:
        partners = [i for i in _partners(items, waiting.pop()) if i not in gone]
        gone.update(partners)
        waiting += partners
    return tuple(item for index, item in enumerate(items) if index not in gone)


def _partners(items: Sequence[Item], index: int) -> list[int]:
    """The items with the first result of each call of an item, or the first call of each result."""
    facts = items[index].facts
    partners = [_first_result(items, call.id) for call in facts.calls]
    partners += [_first_call(items, result.id) for result in facts.results]
    return [partner for partner in partners if partner is not None]


def _first_result(items: Sequence[Item], call_id: str) -> int | None:
    ids = ({result.id for result in item.facts.results} for item in items)
    return next((index for index, named in enumerate(ids) if call_id in named), None)


def _first_call(items: Sequence[Item], call_id: str) -> int | None:
    ids = ({call.id for call in item.facts.calls} for item in items)
    return next((index for index, named in enumerate(ids) if call_id in named), None)
