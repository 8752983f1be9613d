"""A chat counted as tokenizers' examples do it: texts, and so many tokens around each.

It stands in where no provider has reported anything. Roles, media, thinking
and failed calls count nothing.

Source: docs/semantics/goose.md#the-count.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.agent import Tool
from app.core.blocks import Block, Blocks, Text, ToolCall, ToolResult
from app.core.call_input import NO_ARGUMENTS, NOT_AN_OBJECT, call_arguments
from app.core.content import decode_content
from app.core.counting import TokenCounter
from app.core.debug_form import debug_object
from app.core.facts import joined_text
from app.core.items import Item
from app.core.media import MediaRule

MESSAGE_TOKENS = 4
"""Around every message, the system prompt included."""
REPLY_TOKENS = 3
"""With which the answer is begun, once per count."""
TOOLS_TOKENS = 12
"""Once, where there are tools."""
TOOL_TOKENS = 7
PROPERTIES_TOKENS = 3
PROPERTY_TOKENS = 3
ENUM_TOKENS = -3
ENUM_ITEM_TOKENS = 3
"""Around a tool, its properties, each of them, a list of values, and each value. The numbers are
those of OpenAI's own example for tools."""

_SPECIAL = re.compile(r"<\|endoftext\|>|<\|endofprompt\|>")
"""The special tokens of o200k_base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialTokens:
    """A counter for which a special token that stands in a text is one token, as goose has it."""

    counter: TokenCounter

    @property
    def basis(self) -> str:
        """The counter's own, and that special tokens are recognised."""
        return f"{self.counter.basis}, special tokens"

    @property
    def media_rule(self) -> MediaRule:
        """The counter's own."""
        return self.counter.media_rule

    def count(self, text: str) -> int:
        """Tokens of `text`; never raises, whatever the text holds."""
        pieces = _SPECIAL.split(text)
        return len(pieces) - 1 + sum(self.counter.count(piece) for piece in pieces if piece)


def chat_tokens(
    system: str, messages: Sequence[Blocks], tools: Sequence[Tool], counter: TokenCounter
) -> int:
    """Tokens of a request: prompt, the messages that the agent sees, tools, and the reply's begin.

    >>> from app.core.blocks import text_block
    >>> class Letters:
    ...     basis, media_rule, count = "letters", None, staticmethod(len)
    >>> chat_tokens("ab", [(text_block("c"),)], [], Letters())
    14
    """
    prompt = counter.count(system) + MESSAGE_TOKENS if system else 0
    said = sum(MESSAGE_TOKENS + _blocks_tokens(blocks, counter) for blocks in messages)
    return prompt + said + tools_tokens(tools, counter) + REPLY_TOKENS


def separate_tokens(items: Sequence[Item], counter: TokenCounter) -> int:
    """The sum of messages counted each as a chat of its own: 7 tokens around each."""
    return sum(item_tokens(item, counter) for item in items)


def item_tokens(item: Item, counter: TokenCounter) -> int:
    """A message counted as a chat of its own."""
    return chat_tokens("", [decode_content(item.content)], [], counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeparateChats:
    """Counts messages, each as a chat of its own, by one counter."""

    counter: TokenCounter

    def __call__(self, item: Item) -> int:
        """Tokens of one message."""
        return item_tokens(item, self.counter)


def retained_tokens(
    items: Sequence[Item], counter: TokenCounter | None, output_tokens: int | None
) -> int:
    """What the agent sees behind a compaction; the summary's own size where nothing can count.

    Args:
        items: The agent's view of the compacted conversation.
        counter: None where there is no counter.
        output_tokens: Of the summary's answer, where they are known.
    """
    return (output_tokens or 0) if counter is None else separate_tokens(items, counter)


def tools_tokens(tools: Sequence[Tool], counter: TokenCounter) -> int:
    """Tokens of the tools in a request; 0 without any."""
    if not tools:
        return 0
    return TOOLS_TOKENS + sum(_tool_tokens(tool, counter) for tool in tools)


def _blocks_tokens(blocks: Blocks, counter: TokenCounter) -> int:
    return sum(_block_tokens(block, counter) for block in blocks)


def _block_tokens(block: Block, counter: TokenCounter) -> int:
    match block:
        case Text(text=text):
            return counter.count(text)
        case ToolCall():
            arguments = call_arguments(block)
            if arguments is NOT_AN_OBJECT:
                return 0
            told = "None" if arguments is NO_ARGUMENTS else f"Some({debug_object(arguments)})"
            return counter.count(f"{block.id}:{block.name}:{told}")
        case ToolResult(output=output):
            return counter.count(joined_text(output))
        case _:
            return 0


def _tool_tokens(tool: Tool, counter: TokenCounter) -> int:
    tokens = TOOL_TOKENS + counter.count(f"{tool.name}:{_without_dots(tool.description)}")
    properties = tool.parameters.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return tokens
    named = (_property_tokens(str(key), value, counter) for key, value in properties.items())
    return tokens + PROPERTIES_TOKENS + sum(named)


def _property_tokens(key: str, value: object, counter: TokenCounter) -> int:
    fields = value if isinstance(value, Mapping) else {}
    sort, description = _text(fields.get("type")), _text(fields.get("description"))
    tokens = PROPERTY_TOKENS + counter.count(f"{key}:{sort}:{_without_dots(description)}")
    items = fields.get("enum")
    if isinstance(items, list | tuple):
        tokens += ENUM_TOKENS
        texts = (item for item in items if isinstance(item, str))
        tokens += sum(ENUM_ITEM_TOKENS + counter.count(item) for item in texts)
    return tokens


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _without_dots(description: str) -> str:
    return description.rstrip(".")
