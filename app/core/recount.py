"""Items whose tokens were counted on another basis are counted again.

A session whose model changes its encoding or its media rule keeps its stored
counts; the request copy gets counts of the counter in force. What holds no
media does not depend on the rule for media, so it is left alone there.

Source: docs/semantics/budget.md#counters.
"""

from app.core.content import decode_content
from app.core.counting import TokenCounter, text_basis
from app.core.facts import Facts, form_of
from app.core.items import Item
from app.core.request_copy import Memo, Rewrite


def recounted(items: tuple[Item, ...], counter: TokenCounter, memo: Memo) -> tuple[Item, ...]:
    """The items with every count on the basis of `counter`."""
    if all(_rests_on(item.facts, counter.basis) for item in items):
        return items
    return tuple(
        item if _rests_on(item.facts, counter.basis) else _recounted(item, counter, memo)
        for item in items
    )


def _rests_on(facts: Facts, basis: str) -> bool:
    """Whether a count is the one that a counter of this basis would make."""
    if facts.token_basis == basis:
        return True
    return not facts.has_data and text_basis(facts.token_basis) == text_basis(basis)


def _recounted(item: Item, counter: TokenCounter, memo: Memo) -> Item:
    key = ("recount", item.facts.element_sha256, counter.basis)
    rewrite = memo.get(key)
    if rewrite is None:
        rewrite = Rewrite(form=form_of(item.role, decode_content(item.content), counter))
        memo[key] = rewrite
    return item.with_form(rewrite.form)
