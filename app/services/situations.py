"""What a prepare looks at: a session, its view and what is shown of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.compaction.record import Compaction
from app.compaction.view import WHOLE, View
from app.core.items import Item
from app.core.recipe import Recipe, ViewKind
from app.core.stored import Session
from app.services.calls import NEUTRAL, recipe_of
from app.services.profiles import profile_of
from app.services.resources import Resources, counter_of
from app.services.views import view_items
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageRepository
from app.store.sessions import SessionRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A session and the items that a model may see of it."""

    session: Session
    view: View
    view_kind: ViewKind | None
    items: tuple[Item, ...]

    def recipe(self, generation: Mapping[str, object], request_format: str = NEUTRAL) -> Recipe:
        """The recipe of the next call."""
        recipe = recipe_of(self.session, generation, self.view_kind)
        return replace(recipe, format=request_format)

    def with_items(self, session: Session, new: tuple[Item, ...]) -> "Situation":
        """The situation after some messages were stored."""
        return replace(self, session=session, items=(*self.items, *new))


async def read_situation(
    resources: Resources, connection: ReadConnection, session_id: str
) -> Situation:
    """The situation of a session.

    Raises:
        SessionNotFound: There is none of that id.
    """
    session = await SessionRepository(connection).get(session_id)
    return await situation_of(resources, connection, session)


async def situation_of(
    resources: Resources, connection: ReadConnection, session: Session
) -> Situation:
    """The situation of a session that was read already."""
    view, kind = WHOLE, None
    if session.view_id is not None:
        shown = await CompactionRepository(connection, session.incarnation).get(session.view_id)
        view, kind = shown.view or WHOLE, view_kind_of(shown)
    items = await view_items(
        resources.checkpoints,
        connection,
        session.incarnation,
        view,
        session.message_count,
        counter_of(profile_of(session)),
        session.visibility_ordinal,
    )
    return Situation(session=session, view=view, view_kind=kind, items=items)


async def caught_up(
    resources: Resources, connection: ReadConnection, seen: Situation, locked: Session
) -> Situation:
    """The situation of the locked session: what was seen, and what was stored since."""
    before = seen.session
    if _shown_by(before) != _shown_by(locked):
        return await situation_of(resources, connection, locked)
    if before.message_count == locked.message_count:
        return replace(seen, session=locked)
    messages = MessageRepository(connection, locked.incarnation)
    newer = await messages.items(
        before.message_count, locked.message_count, locked.visibility_ordinal
    )
    return seen.with_items(locked, newer)


def _shown_by(session: Session) -> tuple[object, ...]:
    """What the items depend on beside the messages: while it stays, only newer ones come."""
    return (
        session.incarnation,
        session.view_id,
        session.visibility_ordinal,
        session.model_profile,
    )


async def recorded_items(
    resources: Resources, connection: ReadConnection, incarnation: str, recipe: Recipe
) -> tuple[Item, ...]:
    """The items that a recipe was made from."""
    view = await CompactionRepository(connection, incarnation).view(recipe.view_id)
    return await view_items(
        resources.checkpoints,
        connection,
        incarnation,
        view,
        recipe.through_sequence,
        counter_of(recipe.profile),
        recipe.visibility_ordinal,
    )


def view_kind_of(shown: Compaction) -> ViewKind:
    """Whether a view shows a fold or goes back behind one."""
    return "rewind" if shown.kind == "rewind" else "compaction"
