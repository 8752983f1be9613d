"""The passes that fix a conversation, in goose's order and with goose's sentences.

Source: docs/semantics/goose.md#fixing.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeGuard

from app.core.blocks import Block, Blocks, Text, Thinking, ToolCall, ToolResult, text_block
from app.core.messages import Role
from app.core.text import WHITE_SPACE

EMPTY_RESULT_TEXT = "(empty result)"
"""What a tool result without anything in it says."""
PLACEHOLDER_TEXT = "Hello"
"""What a user says in a conversation that has no message left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message as the passes see it."""

    role: Role
    blocks: Blocks
    origins: tuple[int, ...] = ()
    """Indexes of the messages that it was made of; none of a placeholder."""
    stays: bool = False
    """Whether it stays where the assistant may not stand: a pin, a call that waits, or what stands
    for a fold is worth more than the order of speakers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Messages, and a sentence for everything that was changed."""

    messages: tuple[Said, ...]
    issues: tuple[str, ...] = ()


Pass: TypeAlias = Callable[[Sequence[Said]], Fixed]
Fault: TypeAlias = Callable[[Block], str | None]
"""The sentence for a block that has to go; None for one that stays."""
Place: TypeAlias = tuple[int, int]
"""Of a block: the index of its message, and its own in there."""


def effective_role(said: Said) -> Role:
    """`tool` for whatever holds results beside the assistant; people have role `user`."""
    if said.role not in ("user", "tool"):
        return said.role
    return "tool" if any(isinstance(block, ToolResult) for block in said.blocks) else "user"


def merge_texts(messages: Sequence[Said]) -> Fixed:
    """Texts of the assistant that stand side by side become one, with nothing between them."""
    merged = [_with_texts_merged(said) for said in messages]
    changed = [new for old, new in zip(messages, merged, strict=True) if new is not old]
    return Fixed(messages=tuple(merged), issues=("Merged text content",) * len(changed))


def trim_texts(messages: Sequence[Said]) -> Fixed:
    """Texts of the assistant end without white space."""
    trimmed = [
        _with_blocks(said, tuple(map(_trimmed, said.blocks))) if said.role == "assistant" else said
        for said in messages
    ]
    changed = sum(
        old is not new
        for before, after in zip(messages, trimmed, strict=True)
        for old, new in zip(before.blocks, after.blocks, strict=True)
    )
    issue = "Trimmed trailing whitespace from assistant message"
    return Fixed(messages=tuple(trimmed), issues=(issue,) * changed)


def drop_empty(messages: Sequence[Said]) -> Fixed:
    """Messages of nothing but empty texts go."""
    kept = tuple(said for said in messages if not all(map(_is_empty_text, said.blocks)))
    return Fixed(messages=kept, issues=("Removed empty message",) * (len(messages) - len(kept)))


def fill_empty_results(messages: Sequence[Said]) -> Fixed:
    """Tool results without text and media say that they are empty."""
    filled = tuple(_with_blocks(said, tuple(map(_filled, said.blocks))) for said in messages)
    issues = [
        f"Added placeholder to empty tool result '{block.id}'"
        for said in messages
        for block in said.blocks
        if isinstance(block, ToolResult) and _is_empty_result(block)
    ]
    return Fixed(messages=filled, issues=tuple(issues))


def pair_tools(waiting: Set[str], messages: Sequence[Said]) -> Fixed:
    """Calls only in what the assistant says, results only elsewhere, and neither alone.

    A result answers a call in front of it, wherever that stands. Calls that
    wait need no result, and any number of them may stand behind one.
    """
    issues: list[str] = []
    pending: dict[str, Place] = {}
    waited_for: set[str] = set()
    unanswered: set[Place] = set()
    paired: list[Said] = []
    for at, said in enumerate(messages):
        if said.role != "assistant":
            paired.append(_kept(said, partial(_fault_of_others, pending, waited_for), issues))
            continue
        paired.append(_kept(said, _fault_of_assistant, issues))
        for number, block in enumerate(paired[-1].blocks):
            if isinstance(block, ToolCall) and block.id in waiting:
                waited_for.add(block.id)
            elif isinstance(block, ToolCall):
                # A call that takes over an id leaves the one before without an answer.
                if block.id in pending:
                    unanswered.add(pending[block.id])
                pending[block.id] = (at, number)
    unanswered.update(pending.values())
    answered = [_without(said, at, unanswered, issues) for at, said in enumerate(paired)]
    left = drop_empty(answered)
    return Fixed(messages=left.messages, issues=(*issues, *left.issues))


def merge_messages(messages: Sequence[Said]) -> Fixed:
    """Messages of one speaker that follow each other become one; results are a speaker too."""
    merged: list[Said] = []
    issues: list[str] = []
    for said in messages:
        role = effective_role(said)
        if merged and effective_role(merged[-1]) == role:
            last = merged[-1]
            merged[-1] = Said(
                role=role,
                blocks=(*last.blocks, *said.blocks),
                origins=(*last.origins, *said.origins),
                stays=last.stays or said.stays,
            )
            issues.append(f"Merged consecutive {role} messages")
        else:
            merged.append(said)
    return Fixed(messages=tuple(merged), issues=tuple(issues))


def drop_outer_assistant(messages: Sequence[Said]) -> Fixed:
    """The assistant neither begins nor ends: one message goes at each end, unless it stays."""
    kept = list(messages)
    issues: list[str] = []
    if kept and _may_go(kept[0]):
        del kept[0]
        issues.append("Removed leading assistant message")
    if kept and _may_go(kept[-1]):
        del kept[-1]
        issues.append("Removed trailing assistant message")
    return Fixed(messages=tuple(kept), issues=tuple(issues))


def fill_empty_conversation(messages: Sequence[Said]) -> Fixed:
    """A conversation has a message."""
    if messages:
        return Fixed(messages=tuple(messages))
    placeholder = Said(role="user", blocks=(text_block(PLACEHOLDER_TEXT),))
    issue = "Added placeholder user message to empty conversation"
    return Fixed(messages=(placeholder,), issues=(issue,))


def passes(waiting: Set[str]) -> tuple[Pass, ...]:
    """All passes, in goose's order.

    Args:
        waiting: Ids of calls that somebody may still answer.
    """
    return (
        merge_texts,
        trim_texts,
        drop_empty,
        fill_empty_results,
        partial(pair_tools, waiting),
        merge_messages,
        drop_outer_assistant,
        fill_empty_conversation,
    )


def _may_go(said: Said) -> bool:
    return said.role == "assistant" and not said.stays


def _with_blocks(said: Said, blocks: Blocks) -> Said:
    return said if blocks == said.blocks else replace(said, blocks=blocks)


def _with_texts_merged(said: Said) -> Said:
    if said.role != "assistant":
        return said
    blocks: list[Block] = []
    for block in said.blocks:
        if blocks and _is_plain(blocks[-1]) and _is_plain(block):
            blocks[-1] = text_block(blocks[-1].text + block.text)
        else:
            blocks.append(block)
    return _with_blocks(said, tuple(blocks))


def _trimmed(block: Block) -> Block:
    if not _is_plain(block):
        return block
    text = block.text.rstrip(WHITE_SPACE)
    return block if text == block.text else text_block(text)


def _is_plain(block: Block) -> TypeGuard[Text]:
    """Whether a block is a text that its provider has not signed."""
    return isinstance(block, Text) and block.provider_state is None


def _is_empty_text(block: Block) -> bool:
    return _is_plain(block) and not block.text


def _filled(block: Block) -> Block:
    if not isinstance(block, ToolResult) or not _is_empty_result(block):
        return block
    return replace(block, output=(*block.output, text_block(EMPTY_RESULT_TEXT)))


def _is_empty_result(result: ToolResult) -> bool:
    return all(isinstance(block, Text) and not block.text for block in result.output)


def _kept(said: Said, fault: Fault, issues: list[str]) -> Said:
    """A message without the blocks that have to go, whose sentences are added to the issues."""
    kept: list[Block] = []
    for block in said.blocks:
        issue = fault(block)
        if issue is None:
            kept.append(block)
        else:
            issues.append(issue)
    return _with_blocks(said, tuple(kept))


def _fault_of_assistant(block: Block) -> str | None:
    if isinstance(block, ToolResult):
        return f"Removed tool response '{block.id}' from assistant message"
    return None


def _fault_of_others(pending: dict[str, Place], waited_for: Set[str], block: Block) -> str | None:
    """What is wrong with a block of people or tools; a result that is right answers its call."""
    match block:
        case ToolCall(id=id_):
            return f"Removed tool request '{id_}' from user message"
        case Thinking():
            return "Removed thinking content from user message"
        case ToolResult(id=id_):
            answers = pending.pop(id_, None) is not None or id_ in waited_for
            return None if answers else f"Removed orphaned tool response '{id_}'"
        case _:
            return None


def _without(said: Said, at: int, gone: Set[Place], issues: list[str]) -> Said:
    """A message without its calls that stand at one of these places."""
    kept: list[Block] = []
    for number, block in enumerate(said.blocks):
        if isinstance(block, ToolCall) and (at, number) in gone:
            issues.append(f"Removed orphaned tool request '{block.id}'")
        else:
            kept.append(block)
    return _with_blocks(said, tuple(kept))
