"""Codex CLI's replacement: the newest user messages, and the summary behind them.

Everything else goes: answers, calls, results, reasoning, media. Codex's own
texts are used, so that summaries made by it are recognised here and those
made here by it.

Source: docs/semantics/codex.md#the-replacement.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from app.core.blocks import Text, text_block
from app.core.content import decode_content
from app.core.counting import TokenCounter, tokens_of_bytes
from app.core.facts import form_of
from app.core.items import Item
from app.core.messages import Synthetic
from app.core.truncation import Truncation, truncate
from app.core.user_requests import is_user_request

Layout: TypeAlias = Literal["pre_turn", "mid_turn"]

KEPT_USER_MESSAGE_TOKENS = 20_000
"""Codex's room for the user messages that outlive a compaction."""

SUMMARY_PREFIX = (
    "Another language model started to solve this problem and produced a summary of its thinking"
    " process. You also have access to the state of the tools that were used by that language"
    " model. Use this to build on the work that has already been done and avoid duplicating work."
    " Here is the summary produced by the other language model, use the information in this"
    " summary to assist with your own analysis:"
)
"""Codex's text, 399 bytes (Apache-2.0): what follows it in a user message is a summary."""

CHECKPOINT_PROMPT = (
    "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM"
    " that will resume the task.\n"
    "\n"
    "Include:\n"
    "- Current progress and key decisions made\n"
    "- Important context, constraints, or user preferences\n"
    "- What remains to be done (clear next steps)\n"
    "- Any critical data, examples, or references needed to continue\n"
    "\n"
    "Be concise, structured, and focused on helping the next LLM seamlessly continue the work.\n"
)
"""Codex's text, 426 bytes (Apache-2.0): the last user message of a summary request."""


def prefixed_summary(summary: str) -> str:
    """The text in which a model finds a summary."""
    return f"{SUMMARY_PREFIX}\n{summary}"


def kept_user_messages(texts: Sequence[str], cap_tokens: int) -> tuple[str, ...]:
    """The newest of the texts that fit into so many tokens, oldest first.

    The first that does not fit loses its middle, and those before it are left
    out. The marker of the cut is not charged.
    """
    kept: list[str] = []
    remaining = cap_tokens
    for text in reversed(texts):
        if remaining <= 0:
            break
        kept.append(truncate(text, Truncation(mode="tokens", limit=remaining)))
        remaining -= tokens_of_bytes(len(text.encode()))
    return tuple(reversed(kept))


def kept_user_items(
    items: Sequence[Item], cap_tokens: int, counter: TokenCounter
) -> tuple[Item, ...]:
    """The user messages of a conversation that outlive its compaction, as text alone."""
    counted = [(item, text) for item in items if (text := user_text(item))]
    texts = kept_user_messages([text for _, text in counted], cap_tokens)
    newest = counted[len(counted) - len(texts) :]
    return tuple(
        item.with_form(form_of("user", (text_block(text),), counter))
        for (item, _), text in zip(newest, texts, strict=True)
    )


def user_text(item: Item) -> str | None:
    """What a user said in an item; None where it is no user message, or a summary."""
    if not is_user_request(item):
        return None
    text = _joined_text(item)
    return None if _is_summary(text) else text


def lay_out(
    kept: Sequence[Item], summary: Item, context: Sequence[Item], layout: Layout
) -> tuple[Item, ...]:
    """The replaced history: kept messages, then the summary, which stays last.

    Inside a turn the initial context is put in. Before a turn it is not: it is
    appended with the message that begins the turn.
    """
    history = (*kept, summary)
    return history if layout == "pre_turn" else with_context(history, context)


def with_context(history: Sequence[Item], context: Sequence[Item]) -> tuple[Item, ...]:
    """A history with the context before its last user message.

    Without one the context stands before the last summary, else at the end.
    """
    at = _last_index([user_text(item) is not None for item in history])
    if at is None:
        at = _last_index([is_summary(item) for item in history])
    if at is None:
        at = len(history)
    return (*history[:at], *context, *history[at:])


def is_summary(item: Item) -> bool:
    """Whether an item is a summary, made here or found in a user message by its prefix."""
    if isinstance(item.source, Synthetic) and item.source.reason == "compaction_summary":
        return True
    return is_user_request(item) and _is_summary(_joined_text(item))


def _joined_text(item: Item) -> str:
    return "".join(block.text for block in decode_content(item.content) if isinstance(block, Text))


def _is_summary(text: str) -> bool:
    return text.startswith(f"{SUMMARY_PREFIX}\n")


def _last_index(found: Sequence[bool]) -> int | None:
    return max((index for index, is_found in enumerate(found) if is_found), default=None)
