"""Stored sessions and messages as values.

Source: docs/semantics/messages.md#stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.core.budget import BudgetState
from app.core.facts import Facts, Form
from app.core.items import Item, item_of
from app.core.messages import Kind, Real, Role
from app.core.model_profile import ModelProfile
from app.core.provider_context import ProviderContext
from app.core.usage import UsageState
from app.core.visibility import Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The identity of what a model sees between two compactions."""

    number: int
    """From 0; one more with every compaction and rewind."""
    window_id: str
    """UUIDv7."""
    first_window_id: str
    previous_window_id: str | None

    def advanced(self, window_id: str) -> "Window":
        """The window after a compaction."""
        return Window(
            number=self.number + 1,
            window_id=window_id,
            first_window_id=self.first_window_id,
            previous_window_id=self.window_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The session that another one was forked from, and up to where."""

    session_id: str
    through_sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedLimit:
    """A limit that providers named when they refused calls of a model as too long."""

    limit_tokens: int
    reports: int
    observed_at: datetime
    """When the last of the reports came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session as it is stored."""

    id: str
    incarnation: str
    """New for every creation, so that a session made again under its id is another one."""
    model: str
    model_profile: ModelProfile | None
    policy: Mapping[str, object]
    agent_ref: str
    generation: Mapping[str, object]
    parent_session_id: str | None
    sandbox_available: bool
    spill_directory: str | None
    metadata: Mapping[str, object]
    original: bytes
    """The canonical body of its creation, to which a repeat is compared."""
    created_at: datetime
    updated_at: datetime
    version: int
    message_count: int
    cumulative_json_bytes: int
    current_turn_id: str | None
    pruned_through_sequence: int | None
    """Up to where old tool results are shortened; it never goes back."""
    view_id: str | None
    """The compaction, rewind or undo whose view is shown; None before the first."""
    visibility_ordinal: int
    """Of the last change of what models see; 0 before the first."""
    window: Window
    forked_from: Origin | None
    state: BudgetState
    """Of the last prepared call; unknown before the first."""
    used_percent: float | None
    usage: UsageState
    provider_context: ProviderContext | None = None
    """What a provider that owns its context holds; None: nothing, so everything is sent."""

    @property
    def held_through(self) -> int | None:
        """The last message that the provider holds itself, if it holds a thread."""
        context = self.provider_context
        return None if context is None else context.through_sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message on its way into a session."""

    id: str
    turn_id: str | None
    role: Role
    kind: Kind
    agent_visible: bool
    user_visible: bool
    created_at: datetime
    content: bytes
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message with its place in the session."""

    sequence: int
    message: NewMessage
    changed: Visibility | None = None
    """Who sees it since that was changed; None where it never was."""

    @property
    def visibility(self) -> Visibility:
        """Who sees it now."""
        if self.changed is not None:
            return self.changed
        return Visibility(user=self.message.user_visible, agent=self.message.agent_visible)


def item_of_message(stored: StoredMessage) -> Item:
    """A stored message as a conversation item."""
    message = stored.message
    return item_of(
        message.role,
        message.kind,
        Form(content=message.content, facts=message.facts),
        Real(id=message.id, sequence=stored.sequence),
    )
