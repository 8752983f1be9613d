"""Codex CLI's summary request: the history, and a last message that asks for a checkpoint.

Where it does not fit the summarising model, its oldest messages go, calls
together with their results, from this copy alone.

Source: docs/semantics/compaction.md#the-codex-style.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from app.compaction.drop_oldest import drop_oldest
from app.compaction.flat import flat_conversation, flat_messages
from app.compaction.instructions import with_focus
from app.compaction.ladder import input_limit, live_message, with_media_noted
from app.compaction.summary_request import (
    BARE,
    SummaryInput,
    SummaryRequest,
    assemble,
    copied,
    fits,
)
from app.compaction.user_messages import CHECKPOINT_PROMPT
from app.core.blocks import text_block
from app.core.items import Item
from app.core.tool_surface import Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """What is left of a history after some steps; the prompt stands last and never goes."""

    items: tuple[Item, ...]
    steps: int

    def shorter(self, steps: int) -> "_Copy":
        """The copy after so many more steps, or as many as there are."""
        items, made = self.items, 0
        while made < steps and (rest := drop_oldest(items)) is not None:
            items, made = rest, made + 1
        return _Copy(items=items, steps=self.steps + made)


def build_checkpoint_request(given: SummaryInput, task: str = CHECKPOINT_PROMPT) -> SummaryRequest:
    """The request with as few messages dropped as fit. Equal input gives equal bytes.

    Its level is the number of steps, each of which drops the oldest message
    and what answers it; at least `min_level` of them are made.

    Args:
        given: What is summarised, and by which model.
        task: Stands last and never goes.
    """
    limit = input_limit(given.profile, None)
    prompt = with_focus(task, given.instructions)
    if given.style == "cached" and given.min_level <= 0:
        items = copied(given, given.items)
        request = assemble(given, 0, "cached", given.surface, items, (prompt,))
        if fits(request, limit):
            return request
    history = copied(given, given.items[: given.keep_from])
    whole = _Copy(items=(*history, live_message("user", (text_block(prompt),))), steps=0)

    def built(copy: _Copy) -> SummaryRequest:
        return _request(given, copy, prompt)

    copy = _fitting(whole.shorter(given.min_level), lambda copy: fits(built(copy), limit))
    request = replace(built(copy), removed_call_ids=_removed(history, copy.items))
    if copy.steps < given.min_level or not fits(request, limit):
        return replace(request, problem="cannot_fit")
    return request


def _fitting(copy: _Copy, is_fitting: Callable[[_Copy], bool]) -> _Copy:
    """The copy after the fewest steps that make it fit; the shortest where none do."""
    before, after, stride = copy, copy, 1
    while not is_fitting(after) and len(after.items) > 1:
        before, after, stride = after, after.shorter(stride), stride * 2
    while after.steps - before.steps > 1:
        middle = before.shorter((after.steps - before.steps) // 2)
        before, after = (before, middle) if is_fitting(middle) else (middle, after)
    return after


def _request(given: SummaryInput, copy: _Copy, prompt: str) -> SummaryRequest:
    history = copy.items[:-1]
    if given.style == "flat":
        messages = flat_messages(map(with_media_noted, history))
        texts = (flat_conversation(messages), prompt)
        return assemble(given, copy.steps, "flat", BARE, (), texts)
    surface = Surface(system=given.surface.system, tools=())
    return assemble(given, copy.steps, "conversation", surface, history, (prompt,))


def _removed(history: tuple[Item, ...], left: tuple[Item, ...]) -> tuple[str, ...]:
    """The calls of the results that went, in stored order."""
    gone = Counter(_answered(history)) - Counter(_answered(left))
    removed: list[str] = []
    for call_id in _answered(history):
        if gone[call_id] > 0:
            gone[call_id] -= 1
            removed.append(call_id)
    return tuple(removed)


def _answered(items: Iterable[Item]) -> Iterator[str]:
    return (result.id for item in items for result in item.facts.results)
