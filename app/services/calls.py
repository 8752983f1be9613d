"""From a session's settings and items to a prepared call, for every use case."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.core.engine import PreparedCall, PrepareInput, prepare
from app.core.generation import merged
from app.core.items import Item
from app.core.limits import Decision
from app.core.phase import phase_of
from app.core.recipe import Recipe, ViewKind
from app.core.recount import recounted
from app.core.request_copy import PruneBoundary, StepContext
from app.core.stored import Session
from app.core.tool_surface import Surface, SurfaceOptions
from app.core.usage import NO_USAGE, UsageState
from app.policies.presets import policy_from
from app.services.profiles import profile_of
from app.services.resources import Resources, counter_of
from app.store.connections import ReadConnection

NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a decision depends on beside the request."""

    usage: UsageState = NO_USAGE
    model_call: int | None = None
    """The call's number in its turn."""


UNREPORTED = Standing()
"""Where the decision is of no interest, or nothing was ever reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """A prepared call together with what it was made from."""

    call: PreparedCall
    recipe: Recipe
    standing: Standing

    def with_decision(self, decision: Decision) -> "MadeCall":
        """The same call with another decision over it."""
        return replace(self, call=replace(self.call, decision=decision))


def recipe_of(
    session: Session, generation: Mapping[str, object], view_kind: ViewKind | None = None
) -> Recipe:
    """The recipe of a session's next call, through its last message."""
    return Recipe(
        format=NEUTRAL,
        model=session.model,
        profile=profile_of(session),
        policy=session.policy,
        agent_ref=session.agent_ref,
        is_root=session.parent_session_id is None,
        sandbox_available=session.sandbox_available,
        boundary=PruneBoundary(
            through_sequence=session.pruned_through_sequence,
            spill_directory=session.spill_directory,
        ),
        view_id=session.view_id,
        view_kind=view_kind,
        held_through=session.held_through,
        visibility_ordinal=session.visibility_ordinal,
        generation=merged(session.generation, generation),
        through_sequence=session.message_count,
    )


async def make_call(
    resources: Resources,
    connection: ReadConnection,
    recipe: Recipe,
    items: tuple[Item, ...],
    incarnation: str,
    standing: Standing = UNREPORTED,
) -> MadeCall:
    """The call of a recipe. `items` are the session's through its last sequence.

    Raises:
        ContextError: The request cannot be assembled (`prepare`).
    """
    surface = await surface_of(resources, connection, recipe)
    call = await asyncio.to_thread(
        _prepare, resources, recipe, surface, items, incarnation, standing
    )
    return MadeCall(call=call, recipe=recipe, standing=standing)


def step_context(resources: Resources, recipe: Recipe, incarnation: str) -> StepContext:
    """What the steps of a recipe's request copy are told."""
    policy = policy_from(recipe.policy)
    return StepContext(
        boundary=recipe.boundary,
        prune_tool_result_chars=policy.prune_tool_result_chars,
        max_tool_result_tokens=policy.max_tool_result_tokens,
        shaping=policy.shaping,
        accepts_data_blocks=recipe.profile.accepts_data_blocks,
        scope=incarnation,
        counter=counter_of(recipe.profile),
        memo=resources.memo,
    )


async def surface_of(resources: Resources, connection: ReadConnection, recipe: Recipe) -> Surface:
    """What a recipe's agent advertises."""
    return await resources.surfaces.surface(
        connection, recipe.agent_ref, surface_options(recipe), counter_of(recipe.profile)
    )


def surface_options(recipe: Recipe) -> SurfaceOptions:
    """What of a recipe decides over its tools."""
    return SurfaceOptions(
        is_root=recipe.is_root,
        sandbox_available=recipe.sandbox_available,
        tool_order=policy_from(recipe.policy).tool_order,
    )


def _prepare(
    resources: Resources,
    recipe: Recipe,
    surface: Surface,
    items: tuple[Item, ...],
    incarnation: str,
    standing: Standing,
) -> PreparedCall:
    counter = counter_of(recipe.profile)
    return prepare(
        PrepareInput(
            model=recipe.model,
            profile=recipe.profile,
            policy=policy_from(recipe.policy),
            surface=surface,
            items=recounted(items, counter, resources.memo),
            boundary=recipe.boundary,
            generation=recipe.generation,
            scope=incarnation,
            counter=counter,
            chat=resources.chats,
            memo=resources.memo,
            is_partial=recipe.view_id is not None,
            held_through=recipe.held_through,
            usage=standing.usage,
            phase=phase_of(items, standing.model_call),
        )
    )
