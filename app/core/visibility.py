"""Visibility: one history, and what of it people and the agent's model see.

Messages have two flags, and pieces of content may name their readers. A view
is a projection: nothing that is stored changes.

Source: docs/semantics/goose.md#visibility.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.core.blocks import Block, Blocks, Data, Reader, Text, Thinking, ToolResult
from app.core.content import decode_content
from app.core.counting import TokenCounter
from app.core.facts import form_of
from app.core.items import Item
from app.core.request_copy import RequestCopy, Rewrite, StepContext

_MARK = b'"audience":'
"""Stands in the bytes of every message whose content names readers, and hardly in any other."""

_EMPTY_CONTENT = b"[]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """Who sees a message."""

    user: bool = True
    agent: bool = True

    def hidden_from_agent(self) -> "Visibility":
        """The same for people, and nothing for the agent."""
        return Visibility(user=self.user, agent=False)


EVERYBODY = Visibility()
AGENT_ONLY = Visibility(user=False)
USER_ONLY = Visibility(agent=False)
NOBODY = Visibility(user=False, agent=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message and who sees it."""

    item: Item
    visibility: Visibility = EVERYBODY

    def hidden_from_agent(self) -> "Shown":
        """The message that people see as before, and the agent no more."""
        return Shown(item=self.item, visibility=self.visibility.hidden_from_agent())


def agents_view(messages: Sequence[Shown], counter: TokenCounter) -> tuple[Item, ...]:
    """What the agent's model sees, in order."""
    items = (shown.item for shown in messages if shown.visibility.agent)
    return _seen(items, "assistant", counter)


def users_view(messages: Sequence[Shown], counter: TokenCounter) -> tuple[Item, ...]:
    """What people see, in order: no thinking, and nothing that is for the agent alone."""
    items = (shown.item for shown in messages if shown.visibility.user)
    return _seen(items, "user", counter)


def seen_blocks(blocks: Blocks, reader: Reader) -> Blocks:
    """The pieces that a reader sees, which name no readers any more.

    A tool result stays also where nothing of its output is left, since it
    answers a call. Thinking is for the agent.
    """
    return tuple(_for_reader(block, reader) for block in blocks if _is_seen(block, reader))


def for_agent(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The request copy without what is not for the model, and without messages of nothing else."""
    rewrites: dict[int, Rewrite] = {}
    for index, item in enumerate(copy.items):
        if _MARK in item.content:
            key = ("audience", item.role, item.facts.element_sha256, context.counter.basis)
            if key not in context.memo:
                seen = seen_blocks(decode_content(item.content), "assistant")
                context.memo[key] = Rewrite(form=form_of(item.role, seen, context.counter))
            rewrites[index] = context.memo[key]
    emptied = {index for index, made in rewrites.items() if made.form.content == _EMPTY_CONTENT}
    copy = copy.with_rewrites(rewrites)
    return copy.with_only([index for index in range(len(copy.items)) if index not in emptied])


def _seen(items: Iterable[Item], reader: Reader, counter: TokenCounter) -> tuple[Item, ...]:
    seen: list[Item] = []
    for item in items:
        blocks = decode_content(item.content)
        left = seen_blocks(blocks, reader)
        if left == blocks:
            seen.append(item)
        elif left:
            seen.append(item.with_form(form_of(item.role, left, counter)))
    return tuple(seen)


def _is_seen(block: Block, reader: Reader) -> bool:
    match block:
        case Text(audience=audience) | Data(audience=audience):
            return audience is None or reader in audience
        case Thinking():
            return reader == "assistant"
        case _:
            return True


def _for_reader(block: Block, reader: Reader) -> Block:
    match block:
        case Text() | Data():
            return block if block.audience is None else replace(block, audience=None)
        case ToolResult(output=output):
            seen = seen_blocks(output, reader)
            return block if seen == output else replace(block, output=seen)
        case _:
            return block
