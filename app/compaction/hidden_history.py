"""Hidden history: after a compaction people see all of it, and the agent a summary of it.

Nothing is taken away: the old messages lose one flag, and what stands for
them has the other one alone. A request that is being answered comes last.

Source: docs/semantics/goose.md#the-visibility-rewrite.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core.blocks import Blocks, Text, ToolCall, ToolResult, text_block
from app.core.content import decode_content
from app.core.counting import TokenCounter
from app.core.facts import form_of
from app.core.items import Item
from app.core.messages import Role, Synthetic, SyntheticReason
from app.core.visibility import AGENT_ONLY, Shown, seen_blocks

Asked: TypeAlias = Literal["by_hand", "by_itself"]
"""Who wanted a compaction: somebody, or the threshold or an overflow."""
Continuation: TypeAlias = Literal["conversation", "tool_loop", "by_hand"]

_HOLDS_SUMMARY = "The previous message contains a summary of the conversation so far."
_UNMENTIONED = "Do not mention that you read a summary or that conversation summarization occurred."
_NATURALLY = "Just continue the conversation naturally based on the summarized context."

CONTINUATIONS: Mapping[Continuation, str] = {
    "conversation": (f"Your context was compacted. {_HOLDS_SUMMARY}\n{_UNMENTIONED}\n{_NATURALLY}"),
    "tool_loop": (
        f"Your context was compacted. {_HOLDS_SUMMARY}\n{_UNMENTIONED}\n"
        "Continue calling tools as necessary to complete the task."
    ),
    "by_hand": (
        f"Your context was compacted at the user's request. {_HOLDS_SUMMARY}\n{_UNMENTIONED}\n"
        f"{_NATURALLY}"
    ),
}
"""What the assistant is made to say behind a summary: goose's texts (Apache-2.0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preserved:
    """A user's words that are said again behind the summary."""

    index: int
    """Of the message that they are from."""
    texts: Blocks
    is_last: bool
    """Whether nothing but workspace context follows: the agent has not begun to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """What a rewrite depends on beside the messages."""

    compaction_id: str
    asked: Asked
    replaced_through_sequence: int
    """The install boundary, which all that is made here depends on."""
    counter: TokenCounter


def rewritten_history(
    messages: Sequence[Shown], summary: str, given: Rewriting
) -> tuple[Shown, ...]:
    """The history after a compaction: every message, then what the agent sees instead.

    That is the summary, the continuation, the preserved request, and the
    newest workspace context behind it. A second compaction of the result
    hides all of these too.
    """
    preserved = preserved_request(messages) if given.asked == "by_itself" else None
    text = CONTINUATIONS[continuation(preserved, given.asked)]
    made = [
        _made(given, "compaction_summary", "summary", "user", (text_block(summary),)),
        _made(given, "system_reminder", "continuation", "assistant", (text_block(text),)),
    ]
    if preserved is not None:
        made.append(_made(given, "last_user_request_replay", "user", "user", preserved.texts))
        carried = _workspace_context(messages[preserved.index + 1 :])
        if carried is not None:
            made.append(Shown(item=carried, visibility=AGENT_ONLY))
    return (*(shown.hidden_from_agent() for shown in messages), *made)


def preserved_request(messages: Sequence[Shown]) -> Preserved | None:
    """The last message in which the agent sees a user's words and no tool, as text alone.

    An image beside the text does not matter, and is not kept. What is for
    people alone does not count.
    """
    for index in range(len(messages) - 1, -1, -1):
        shown = messages[index]
        if shown.visibility.agent and shown.item.role == "user" and not is_context(shown.item):
            blocks = seen_blocks(decode_content(shown.item.content), "assistant")
            texts = tuple(block for block in blocks if isinstance(block, Text))
            if texts and not any(isinstance(block, ToolCall | ToolResult) for block in blocks):
                is_last = all(is_context(later.item) for later in messages[index + 1 :])
                return Preserved(index=index, texts=texts, is_last=is_last)
    return None


def continuation(preserved: Preserved | None, asked: Asked) -> Continuation:
    """Which words follow the summary."""
    if asked == "by_hand":
        return "by_hand"
    return "conversation" if preserved is not None and preserved.is_last else "tool_loop"


def is_context(item: Item) -> bool:
    """Whether an item tells of the workspace, and nobody said it."""
    return item.kind == "world_state"


def _workspace_context(messages: Sequence[Shown]) -> Item | None:
    """The newest workspace context that the agent sees."""
    seen = [shown.item for shown in messages if shown.visibility.agent and is_context(shown.item)]
    return seen[-1] if seen else None


def _made(
    given: Rewriting, reason: SyntheticReason, suffix: str, role: Role, blocks: Blocks
) -> Shown:
    form = form_of(role, blocks, given.counter)
    item = Item(
        role=role,
        kind="normal",
        content=form.content,
        facts=form.facts,
        source=Synthetic(reason=reason, id=f"{given.compaction_id}:{suffix}"),
        depends_on=given.replaced_through_sequence,
    )
    return Shown(item=item, visibility=AGENT_ONLY)
