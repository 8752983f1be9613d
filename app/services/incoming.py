"""Messages on their way in: given an id and a form before any lock is taken.

Counting tokens is the slow part of an append. It runs in a thread, outside
the transaction, so that neither other requests nor other writers wait for it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.core.append import Draft, check_drafts, check_size
from app.core.blocks import Blocks
from app.core.content import encode_content
from app.core.counting import TokenCounter
from app.core.facts import form_of
from app.core.messages import Kind, Role
from app.core.stored import NewMessage
from app.services.resources import Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """A message as a caller sent it."""

    id: str | None
    turn_id: str | None
    role: Role
    kind: Kind
    content: Blocks
    agent_visible: bool
    user_visible: bool
    created_at: datetime | None


async def draft_messages(
    resources: Resources, incoming: Sequence[IncomingMessage], counter: TokenCounter
) -> tuple[Draft, ...]:
    """The messages with ids and forms.

    Raises:
        ContextError: One of them can be in no session (`check_size`, `check_drafts`).
    """
    if not incoming:
        return ()
    drafts = await asyncio.to_thread(_drafts, resources, incoming, counter)
    check_drafts(drafts)
    return drafts


def _drafts(
    resources: Resources, incoming: Sequence[IncomingMessage], counter: TokenCounter
) -> tuple[Draft, ...]:
    now = resources.now()
    for index, message in enumerate(incoming):
        # Counting the tokens of a message that is refused anyway would take seconds.
        check_size(len(encode_content(message.content)), index)
    return tuple(
        Draft(
            index=index,
            message=_new_message(message, resources, counter, now),
            content=message.content,
        )
        for index, message in enumerate(incoming)
    )


def _new_message(
    message: IncomingMessage, resources: Resources, counter: TokenCounter, now: datetime
) -> NewMessage:
    form = form_of(message.role, message.content, counter)
    return NewMessage(
        id=f"msg-{resources.new_id()}" if message.id is None else message.id,
        turn_id=message.turn_id,
        role=message.role,
        kind=message.kind,
        agent_visible=message.agent_visible,
        user_visible=message.user_visible,
        created_at=message.created_at or now,
        content=form.content,
        facts=form.facts,
    )
