"""What a session's provider holds: how reports and changes move it.

Source: docs/semantics/provider-context.md#what-the-provider-holds.
"""

from typing import Literal, TypeAlias

from app.compaction.refusals import InvalidBoundary
from app.core.provider_context import ProviderContext
from app.core.recipe import Recipe
from app.core.stored import Session
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection

ToldContext: TypeAlias = ProviderContext | Literal["lost"] | None
"""What a report says of a provider's thread; None is nothing, so that what was said stands."""


def kept_context(before: Session, after: Session) -> ProviderContext | None:
    """What the provider still holds after a change: a thread is of one model and one agent."""
    same = (before.model, before.agent_ref) == (after.model, after.agent_ref)
    return before.provider_context if same else None


def told_context(before: ProviderContext | None, told: ToldContext) -> ProviderContext | None:
    """What the provider holds after a report."""
    if told is None:
        return before
    return None if told == "lost" else told


def refuse_unknown_messages(session: Session) -> None:
    """Refuse a provider that would hold messages which the session does not have.

    Raises:
        InvalidBoundary: Names the sequence.
    """
    through = session.held_through
    if through is not None and through > session.message_count:
        raise InvalidBoundary(
            f"the session holds {session.message_count} messages", through_sequence=through
        )


async def is_of_thread(connection: ReadConnection, session: Session, recipe: Recipe) -> bool:
    """Whether a prepared call was made in the thread that goes on.

    The provider's own folds end no thread; another model or agent, and any other view, does.
    """
    if (recipe.model, recipe.agent_ref) != (session.model, session.agent_ref):
        return False
    compactions = CompactionRepository(connection, session.incarnation)
    view_id = session.view_id
    while view_id is not None and view_id != recipe.view_id:
        shown = await compactions.get(view_id)
        if shown.kind != "provider":
            return False
        view_id = shown.previous_view_id
    return view_id == recipe.view_id
