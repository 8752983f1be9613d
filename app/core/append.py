"""An append: what a batch of messages does to a session, decided on values.

First identity (what is stored already changes nothing), then the expected
count, then pairing, then the limits of single items.

Source: docs/semantics/messages.md#order-of-refusals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.blocks import Blocks, Text, ToolResult
from app.core.chat_state import Arrival, OpenCall, advance, check_placement, refuse_system_role
from app.core.errors import (
    ConversationMoved,
    MessageConflict,
    MessageTooLarge,
    UnexpectedKind,
    UnsupportedUserData,
)
from app.core.facts import form_with_tokens
from app.core.ids import check_key, check_message_id
from app.core.item_limits import check_message
from app.core.shaping import DuplicateCallIds, UnsupportedData
from app.core.stored import NewMessage, StoredMessage

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Of one message's canonical content; half of what a whole body may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message of a batch, its content both as blocks and as canonical bytes."""

    index: int
    message: NewMessage
    content: Blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendState:
    """What of the session a batch is compared with."""

    message_count: int
    existing: Mapping[str, StoredMessage]
    """The stored messages that have an id of the batch."""
    open_calls: Mapping[str, OpenCall]
    accepts_data_blocks: bool
    duplicate_call_ids: DuplicateCallIds = "refuse"
    unsupported_data: UnsupportedData = "refuse"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendPlan:
    """What to store, and where every message of the batch ends up."""

    arrived: tuple[NewMessage, ...]
    placed: tuple[tuple[str, int], ...]
    """Id and sequence of each message of the batch, in its order."""
    open_calls: Mapping[str, OpenCall]


def check_size(content_bytes: int, index: int) -> None:
    """Refuse a message that is too large, before anything in it is counted.

    Raises:
        MessageTooLarge: Its canonical content has more than `MAX_MESSAGE_BYTES`.
    """
    if content_bytes > MAX_MESSAGE_BYTES:
        raise MessageTooLarge(
            f"message {index} has {content_bytes} bytes",
            message_index=index,
            limit_bytes=MAX_MESSAGE_BYTES,
        )


def check_drafts(drafts: Sequence[Draft]) -> None:
    """Refuse messages that no session takes, whatever it holds.

    Raises:
        InvalidId, ReservedId, UnexpectedKind, SystemMessageInConversation,
        EmptyMessage, InvalidToolMessage, UnexpectedRole: The first fault, by
            kind of fault before position.
    """
    for draft in drafts:
        check_message_id(draft.message.id, draft.index)
        if draft.message.turn_id is not None:
            check_key(draft.message.turn_id, "turn_id", draft.index)
    for draft in drafts:
        refuse_system_role(draft.message.role, draft.index)
    for draft in drafts:
        _check_shape(draft)


def plan_append(
    drafts: Sequence[Draft], state: AppendState, expected_message_count: int | None
) -> AppendPlan:
    """What appending `drafts` does: all of it or, where this raises, nothing.

    Raises:
        MessageConflict: An id is taken by other content.
        ConversationMoved: The session does not hold the expected number.
        DuplicateToolCall, UnmatchedToolResult: The calls do not pair.
        ItemOverLimit, UnsupportedUserData: One message cannot be taken.
    """
    arrived, sequences = _identified(drafts, state)
    changes_nothing = drafts and not arrived
    if not changes_nothing and expected_message_count not in (None, state.message_count):
        raise ConversationMoved(
            f"the session holds {state.message_count} messages, not {expected_message_count}",
            message_count=state.message_count,
        )
    arrivals = [_arrival(draft, sequences[draft.message.id]) for draft in arrived]
    open_calls = advance(state.open_calls, arrivals, state.duplicate_call_ids)
    for draft in arrived:
        _check_item(draft, state)
    return AppendPlan(
        arrived=tuple(draft.message for draft in arrived),
        placed=tuple((draft.message.id, sequences[draft.message.id]) for draft in drafts),
        open_calls=open_calls,
    )


def _identified(drafts: Sequence[Draft], state: AppendState) -> tuple[list[Draft], dict[str, int]]:
    """The drafts that are new, named in full, and the sequence of every id."""
    names = {call.id: call.name for call in state.open_calls.values()}
    arrived: list[Draft] = []
    seen: dict[str, NewMessage] = {}
    sequences: dict[str, int] = {}
    for draft in drafts:
        stored = state.existing.get(draft.message.id)
        before = stored.message if stored else seen.get(draft.message.id)
        if before is not None:
            _refuse_conflict(_named(draft, _result_names(before)), before)
            sequences[before.id] = stored.sequence if stored else sequences[before.id]
            continue
        named = _named(draft, names)
        names |= {call.id: call.name for call in named.message.facts.calls}
        arrived.append(named)
        seen[named.message.id] = named.message
        sequences[named.message.id] = state.message_count + len(arrived)
    return arrived, sequences


def _named(draft: Draft, names: Mapping[str, str]) -> Draft:
    """The draft with absent result names filled from their calls."""
    facts = draft.message.facts
    if all(result.name is not None or result.id not in names for result in facts.results):
        return draft
    content = tuple(
        replace(block, name=names.get(block.id))
        if isinstance(block, ToolResult) and block.name is None
        else block
        for block in draft.content
    )
    form = form_with_tokens(draft.message.role, content, facts.tokenizer_tokens, facts.token_basis)
    message = replace(draft.message, content=form.content, facts=form.facts)
    return replace(draft, message=message, content=content)


def _result_names(message: NewMessage) -> dict[str, str]:
    return {result.id: result.name for result in message.facts.results if result.name is not None}


def _refuse_conflict(draft: Draft, before: NewMessage) -> None:
    if _identity(draft.message) != _identity(before):
        raise MessageConflict(
            f"message {before.id!r} is stored with other content",
            message_id=before.id,
            message_index=draft.index,
        )


def _identity(message: NewMessage) -> tuple[object, ...]:
    return (
        message.role,
        message.kind,
        message.turn_id,
        message.agent_visible,
        message.user_visible,
        message.facts.element_sha256,
    )


def _arrival(draft: Draft, sequence: int) -> Arrival:
    return Arrival(
        index=draft.index,
        sequence=sequence,
        message_id=draft.message.id,
        calls=draft.message.facts.calls,
        results=draft.message.facts.results,
    )


def _check_shape(draft: Draft) -> None:
    message = draft.message
    if message.kind == "world_state":
        raise UnexpectedKind(
            "world-state messages are written by the service alone",
            message_index=draft.index,
            message_id=message.id,
        )
    check_placement(message.role, message.kind, draft.content, draft.index)


def _check_item(draft: Draft, state: AppendState) -> None:
    message = draft.message
    check_message(
        message.kind,
        message.id,
        draft.index,
        _first_text(draft.content),
        message.facts.json_bytes,
    )
    is_request = message.role == "user" and message.kind == "normal"
    is_refused = not state.accepts_data_blocks and state.unsupported_data == "refuse"
    if is_request and message.facts.has_data and is_refused:
        raise UnsupportedUserData(
            "the session's model does not accept data blocks in real user input",
            message_index=draft.index,
            message_id=message.id,
        )


def _first_text(content: Blocks) -> str:
    return next((block.text for block in content if isinstance(block, Text)), "")
