"""What became of every stored message of a session in a call that was prepared."""

import asyncio
from collections.abc import Sequence, Set
from dataclasses import dataclass

from app.compaction.view import WHOLE, Coverage
from app.core.items import message_id
from app.core.recipe import Recipe
from app.core.verdicts import Verdict, VerdictName, shown_verdicts
from app.services.calls import MadeCall, step_context
from app.services.resources import Resources
from app.services.situations import recorded_items
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMessage:
    """A stored message and its verdict."""

    message_id: str
    sequence: int
    verdict: Verdict


async def verdicts_of(
    resources: Resources, incarnation: str, made: MadeCall
) -> Sequence[JudgedMessage]:
    """The verdict of every message that was stored when a call was prepared, in order."""
    recipe = made.recipe
    async with resources.database.reading() as connection:
        items = await recorded_items(resources, connection, incarnation, recipe)
        messages = MessageRepository(connection, incarnation)
        ids = await messages.sequences(recipe.through_sequence)
        seen = {message_id(item) for item in items}
        unshown = [id_ for id_ in ids if id_ not in seen]
        hidden = await messages.hidden_from_agent(unshown, recipe.visibility_ordinal)
        coverage = await _coverage(connection, incarnation, recipe)
    context = step_context(resources, recipe, incarnation)
    shown = await asyncio.to_thread(shown_verdicts, items, made.call, context)
    return [
        JudgedMessage(
            message_id=id_,
            sequence=sequence,
            verdict=shown.get(id_) or _unshown(id_, sequence, hidden, coverage),
        )
        for id_, sequence in ids.items()
    ]


async def _coverage(
    connection: ReadConnection, incarnation: str, recipe: Recipe
) -> tuple[Coverage, VerdictName]:
    """What hides the messages that are not shown, and how."""
    if recipe.view_id is None:
        return Coverage(view=WHOLE, view_id=None), "hidden"
    shown = await CompactionRepository(connection, incarnation).get(recipe.view_id)
    verdict: VerdictName = "hidden" if shown.kind == "rewind" else "summarised"
    return Coverage(view=shown.view or WHOLE, view_id=shown.window_view_id), verdict


def _unshown(
    id_: str, sequence: int, hidden: Set[str], coverage: tuple[Coverage, VerdictName]
) -> Verdict:
    if id_ in hidden:
        return Verdict(verdict="hidden", rule="visibility")
    shown, verdict = coverage
    return Verdict(verdict=verdict, rule=shown.of(sequence))
