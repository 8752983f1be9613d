"""What may be appended to a conversation, checked before anything changes.

The checks are against the calls that still have no final result, so the
history is never read. A batch is checked whole: a refused one changes nothing.

Source: docs/semantics/chat-state.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.blocks import Blocks, Thinking, ToolCall, ToolResult
from app.core.errors import (
    DuplicateToolCall,
    EmptyMessage,
    InvalidToolMessage,
    SystemMessageInConversation,
    UnexpectedRole,
    UnmatchedToolResult,
)
from app.core.facts import CallFact, ResultFact
from app.core.messages import Kind, Role
from app.core.shaping import DuplicateCallIds


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call without a final result."""

    id: str
    name: str
    sequence: int
    """Of the message that made it, or the first of several."""
    count: int = 1
    """Calls that are open under this id; one, unless the session takes ids twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What the pairing rules need to know of a message that arrives."""

    index: int
    sequence: int
    message_id: str
    calls: tuple[CallFact, ...]
    results: tuple[ResultFact, ...]


def refuse_system_role(role: Role, index: int) -> None:
    """Refuse a system message.

    Raises:
        SystemMessageInConversation: Always, for role system.
    """
    if role == "system":
        raise SystemMessageInConversation(
            "persisted conversation must not contain a system message", message_index=index
        )


def check_placement(role: Role, kind: Kind, content: Blocks, index: int) -> None:
    """Refuse blocks and kinds that the role cannot hold.

    Raises:
        EmptyMessage: A user or tool message without blocks.
        InvalidToolMessage: A tool message with another block than results.
        UnexpectedRole: A result outside a tool message, a call or thinking
            outside an assistant message, a contextual kind outside user.
    """
    if kind != "normal" and role != "user":
        raise _unexpected("user", role, index)
    if role in ("user", "tool") and not content:
        raise EmptyMessage("message content must not be empty", message_index=index)
    for number, block in enumerate(content):
        if role == "tool":
            if not isinstance(block, ToolResult):
                raise InvalidToolMessage(
                    "tool messages must contain only tool result blocks",
                    message_index=index,
                    block_index=number,
                )
            _check_output(block.output, index, number)
        elif isinstance(block, ToolResult):
            raise _unexpected("tool", role, index, number)
        elif role != "assistant" and isinstance(block, ToolCall | Thinking):
            raise _unexpected("assistant", role, index, number)


def advance(
    open_calls: Mapping[str, OpenCall],
    arrivals: Sequence[Arrival],
    duplicates: DuplicateCallIds = "refuse",
) -> dict[str, OpenCall]:
    """The open calls after all arrivals.

    A result of state `running` leaves its call open, so that a later final
    one is still welcome.

    Args:
        open_calls: Before.
        arrivals: The messages that arrive, in order.
        duplicates: Whether a call may have an id that is open already.

    Raises:
        DuplicateToolCall: A call's id is open already.
        UnmatchedToolResult: A result's id is not open.
    """
    after = dict(open_calls)
    for arrival in arrivals:
        for call in arrival.calls:
            known = after.get(call.id)
            if known is not None and duplicates == "refuse":
                raise DuplicateToolCall(
                    f"duplicate unresolved tool call: {call.id}", **_offender(arrival, call.id)
                )
            opened = OpenCall(id=call.id, name=call.name, sequence=arrival.sequence)
            after[call.id] = opened if known is None else replace(known, count=known.count + 1)
        for result in arrival.results:
            if result.id not in after:
                raise UnmatchedToolResult(
                    f"tool result has no matching assistant tool call: {result.id}",
                    **_offender(arrival, result.id),
                )
            if result.state != "running":
                _close(after, result.id)
    return after


def _close(open_calls: dict[str, OpenCall], call_id: str) -> None:
    """Close one of the calls of an id."""
    left = open_calls[call_id]
    if left.count == 1:
        del open_calls[call_id]
    else:
        open_calls[call_id] = replace(left, count=left.count - 1)


def _check_output(output: Blocks, index: int, number: int) -> None:
    for block in output:
        if isinstance(block, ToolCall | Thinking):
            raise _unexpected("assistant", "tool", index, number)
        if isinstance(block, ToolResult):
            raise InvalidToolMessage(
                "a tool result must not hold another tool result",
                message_index=index,
                block_index=number,
            )


def _unexpected(
    expected: Role, actual: Role, index: int, block_index: int | None = None
) -> UnexpectedRole:
    where = {} if block_index is None else {"block_index": block_index}
    return UnexpectedRole(
        f"unexpected message role: expected {expected}, got {actual}",
        message_index=index,
        **where,
    )


def _offender(arrival: Arrival, call_id: str) -> dict[str, "int | str"]:
    return {
        "message_index": arrival.index,
        "message_id": arrival.message_id,
        "call_id": call_id,
    }
