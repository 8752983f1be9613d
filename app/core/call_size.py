"""How large a request is by the tokenizer, in the form that calibration compares.

Beside the strings and media that the tokenizer counts, a provider counts
what separates messages. The difference is small and steady, so it is a
price per message here and no part of the tokenizer's own number.

Source: docs/semantics/calibration.md#size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from app.core.blocks import Block, ProviderOpaque, Text, Thinking, ToolCall
from app.core.budget import RegionTokens
from app.core.content import decode_content
from app.core.items import Item
from app.core.messages import Real
from app.core.tool_surface import SystemMessage, ToolDefinition

MESSAGE_TOKENS = 4
"""What opens and closes a message: its role and separators (OpenAI documents 3 to 4)."""

RESULT_TOKENS = 8
"""What opens and closes a tool result: a message's share and the reference to its call."""

_EMPTY = b"[]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The message that the last reported call was answered with, as a request repeats it."""

    tokens: int
    calls: int
    """Tool calls in it."""
    is_settled: bool
    """Whether every tool call in it has a result that somebody sent."""
    has_reasoning: bool
    """Whether it holds thinking or a provider's own state, which may be billed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSize:
    """The size of one request. It is small, so that it can be kept until usage is reported."""

    basis: str
    """Of the counter."""
    through_sequence: int
    """The last stored message that the request depends on; 0 where there is none."""
    regions: RegionTokens
    after_sequence: int | None
    """The call that `answer` answers reached up to here. None: no call was reported."""
    answer: Answer | None
    is_whole: bool = True
    """Whether the request holds all that its provider will count. A provider that holds a part
    itself counts that too."""

    @property
    def tokens(self) -> int:
        """Of the whole request."""
        return self.regions.total


def size_json(size: CallSize) -> dict[str, object]:
    """A size as JSON; `size_from_json` takes it back."""
    return asdict(size)


def size_from_json(value: object) -> CallSize:
    """The size of a value that `size_json` made."""
    # Only values made by `size_json` come here, so their shape is known.
    fields = cast("Mapping[str, Any]", value)
    answer = fields["answer"]
    return CallSize(
        **{
            **fields,
            "regions": RegionTokens(**fields["regions"]),
            "answer": None if answer is None else Answer(**answer),
        }
    )


def call_size(
    system: Sequence[SystemMessage],
    conversation: Sequence[Item],
    tools: Sequence[ToolDefinition],
    basis: str,
    after_sequence: int | None,
    held_through: int | None = None,
) -> CallSize:
    """The size of a request, and of the answer to the call that reached up to `after_sequence`.

    `held_through` is the last message that the provider holds itself.
    """
    through = max((item.depends_on for item in conversation), default=0)
    return CallSize(
        basis=basis,
        through_sequence=max(through, held_through or 0),
        regions=RegionTokens(
            system_context=sum(map(system_tokens, system)),
            conversation=sum(map(item_tokens, conversation)),
            tool_surface=sum(tool.tokenizer_tokens for tool in tools),
        ),
        after_sequence=after_sequence,
        answer=None if after_sequence is None else _answer(conversation, after_sequence),
        is_whole=held_through is None,
    )


def system_tokens(part: SystemMessage) -> int:
    """Tokens of a system message."""
    return part.form.facts.tokenizer_tokens + MESSAGE_TOKENS


def item_tokens(item: Item) -> int:
    """Tokens of a message; nothing where it is empty, since no provider is sent such a one."""
    facts = item.facts
    if item.content == _EMPTY:
        return 0
    frame = RESULT_TOKENS * len(facts.results) if item.role == "tool" else MESSAGE_TOKENS
    return facts.tokenizer_tokens + frame


def _answer(conversation: Sequence[Item], after_sequence: int) -> Answer | None:
    for index, item in enumerate(conversation):
        if item.role == "assistant" and _sequence(item) > after_sequence:
            answered = {
                result.id
                for later in conversation[index + 1 :]
                if isinstance(later.source, Real)
                for result in later.facts.results
            }
            return Answer(
                tokens=item_tokens(item),
                calls=len(item.facts.calls),
                is_settled=all(call.id in answered for call in item.facts.calls),
                has_reasoning=any(map(_is_reasoning, decode_content(item.content))),
            )
    return None


def _is_reasoning(block: Block) -> bool:
    match block:
        case Thinking() | ProviderOpaque():
            return True
        case Text() | ToolCall():
            return block.provider_state is not None
        case _:
            return False


def _sequence(item: Item) -> int:
    """Where a message is stored; 0 where it was made for the request."""
    return item.source.sequence or 0 if isinstance(item.source, Real) else 0
