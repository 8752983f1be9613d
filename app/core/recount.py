"""Items whose tokens were counted on another basis are counted again.

A session whose model changes its encoding keeps its stored counts; the
request copy gets counts of the counter in force.

Source: docs/semantics/budget.md#counters.
"""

from app.core.content import decode_content
from app.core.counting import TokenCounter
from app.core.facts import form_of
from app.core.items import Item
from app.core.request_copy import Memo, Rewrite


def recounted(items: tuple[Item, ...], counter: TokenCounter, memo: Memo) -> tuple[Item, ...]:
    """The items with every count on the basis of `counter`."""
    if all(item.facts.token_basis == counter.basis for item in items):
        return items
    return tuple(
        item if item.facts.token_basis == counter.basis else _recounted(item, counter, memo)
        for item in items
    )


def _recounted(item: Item, counter: TokenCounter, memo: Memo) -> Item:
    key = ("recount", item.facts.element_sha256, counter.basis)
    rewrite = memo.get(key)
    if rewrite is None:
        rewrite = Rewrite(form=form_of(item.role, decode_content(item.content), counter))
        memo[key] = rewrite
    return item.with_form(rewrite.form)
