"""Batches of tool pairs for callers with a store of their own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.compaction.errors import NothingToCompact
from app.compaction.pair_batch import BatchContent, batch_key, due_groups, pair_request
from app.compaction.summary_request import BARE, SummaryInput, SummaryRequest
from app.core.items import Item, message_id
from app.core.messages import Real
from app.policies.presets import policy_json
from app.services.pair_batches import cutoff_of
from app.services.resources import Resources, counter_of
from app.services.stateless_compaction import (
    GivenPlan,
    given_context,
    given_positions,
    visible_items,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPair:
    """A tool pair of a conversation, and what a model is asked of it."""

    call_ids: tuple[str, ...]
    message_ids: tuple[str | None, ...]
    """None for a message without an id."""
    indexes: tuple[int, ...]
    """Of the messages in the conversation."""
    request: SummaryRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPairs:
    """The batch that is due."""

    key: str
    pairs: tuple[GivenPair, ...]


async def plan_pairs_given(resources: Resources, given: GivenPlan) -> PlannedPairs:
    """The tool pairs of a conversation that are due, and what is asked of each.

    Raises:
        NothingToCompact: None is.
    """
    return await asyncio.to_thread(_plan, resources, given)


def _plan(resources: Resources, given: GivenPlan) -> PlannedPairs:
    counter = counter_of(given.model_profile)
    items = visible_items(given.conversation, counter)
    cutoff = cutoff_of(given.policy, given.model_profile)
    groups = () if cutoff is None else due_groups(_named(items), cutoff)
    if not groups:
        raise NothingToCompact("no batch of tool pairs is due")
    positions = given_positions(given.conversation)
    asked = SummaryInput(
        model=given.model_profile.name,
        profile=given.model_profile,
        surface=BARE,
        items=(),
        keep_from=0,
        context=given_context(resources, given, counter),
        style="flat",
        instructions=given.instructions,
    )
    batch = [[items[index] for index in group.indexes] for group in groups]
    pairs = tuple(
        GivenPair(
            call_ids=group.call_ids,
            message_ids=tuple(map(message_id, messages)),
            indexes=tuple(positions[index] for index in group.indexes),
            request=pair_request(replace(asked, items=tuple(messages))),
        )
        for group, messages in zip(groups, batch, strict=True)
    )
    content = BatchContent(
        policy=policy_json(given.policy),
        model=given.model_profile.name,
        view_id=None,
        pairs=[item for messages in batch for item in messages],
        instructions=given.instructions,
    )
    return PlannedPairs(key=batch_key(content), pairs=pairs)


def _named(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items with a name for each real one: who gives them knows them by their places."""
    return tuple(
        replace(item, source=replace(item.source, id=item.source.id or f"#{index}"))
        if isinstance(item.source, Real)
        else item
        for index, item in enumerate(items)
    )
