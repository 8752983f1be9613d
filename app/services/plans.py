"""Plans of compactions: what is folded, under which key, and what a model is asked."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from app.compaction.fold import FoldPlan, fold_end
from app.compaction.plan_key import PlanContent, plan_key
from app.compaction.record import Compaction, CompactionKind, CompactionPhase, Plan, Rung
from app.compaction.style import Style
from app.compaction.summary_request import SummaryInput, SummaryRequest
from app.core.items import Item
from app.core.messages import Real
from app.core.model_profile import ModelProfile
from app.core.recipe import Recipe
from app.core.request_copy import StepContext
from app.core.stored import Session
from app.core.tool_surface import Surface
from app.services.calls import recipe_of, step_context, surface_options
from app.services.profiles import compact_with, policy_of, profile_of, style_of
from app.services.receipts import conversation_tokens
from app.services.resources import Resources, counter_of
from app.services.situations import Situation
from app.services.views import view_items
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageRepository
from app.store.turns import TurnRepository


async def fold_of(
    connection: ReadConnection, situation: Situation, phase: CompactionPhase, now: datetime
) -> FoldPlan:
    """What a compaction of the session would fold now, in that phase.

    Raises:
        EmptyConversation, MissingLastUser, NothingToCompact: It would fold nothing.
    """
    gone = await _gone_messages(connection, situation.session, now)
    return style_of(policy_of(situation.session)).fold(situation.items, phase, gone)


def key_of(
    situation: Situation, fold: FoldPlan, kind: CompactionKind, instructions: str | None
) -> str:
    """The key of a fold: equal plans have equal keys."""
    session = situation.session
    folded = situation.items[: fold.keep_from]
    model = _summarising(session, compact_with(session, kind))
    return _key(session, session.view_id, model, folded, fold.through_sequence, instructions)


async def plans_again(
    resources: Resources,
    connection: ReadConnection,
    session: Session,
    shown: Compaction,
    instructions: str | None,
) -> bool:
    """Whether a request that came before the compaction was carried out would have its plan."""
    plan = shown.plan
    if plan is None or session.message_count != plan.shown_through:
        return False
    if session.visibility_ordinal != plan.visibility_ordinal:
        return False
    folded = (await planned_items(resources, connection, session, plan))[: plan.keep_from]
    model = _summarising(session, shown.compact_with)
    return plan.key == _key(
        session, plan.view_id, model, folded, plan.through_sequence, instructions
    )


async def is_current(
    connection: ReadConnection, situation: Situation, found: Compaction, now: datetime
) -> bool:
    """Whether a plan that was made earlier would be made of the same messages now.

    They are shown still, nobody has changed what is asked of whom, and no
    result has come since that its boundary would part from a call.
    """
    plan, session = found.plan, situation.session
    if plan is None or plan.view_id != session.view_id:
        return False
    folded = situation.items[: plan.keep_from]
    model = _summarising(session, found.compact_with)
    key = _key(session, plan.view_id, model, folded, plan.through_sequence, found.instructions)
    gone = await _gone_messages(connection, session, now)
    return key == plan.key and fold_end(situation.items, plan.keep_from, gone) == plan.keep_from


async def plan_of(
    connection: ReadConnection,
    situation: Situation,
    fold: FoldPlan,
    kind: CompactionKind,
    instructions: str | None,
) -> Plan:
    """The fold as it is stored."""
    folded = situation.items[: fold.keep_from]
    anchor = None if fold.anchor_index is None else folded[fold.anchor_index]
    anchor_id, anchor_sequence = await _anchor(connection, situation, anchor)
    return Plan(
        key=key_of(situation, fold, kind, instructions),
        base_version=situation.session.version,
        view_id=situation.session.view_id,
        pruned_through=situation.session.pruned_through_sequence,
        shown_through=situation.session.message_count,
        visibility_ordinal=situation.session.visibility_ordinal,
        keep_from=fold.keep_from,
        through_sequence=fold.through_sequence or 0,
        message_count=fold.message_count,
        tokens=conversation_tokens(folded),
        anchor_message_id=anchor_id,
        anchor_sequence=anchor_sequence,
    )


async def request_of(
    resources: Resources,
    connection: ReadConnection,
    session: Session,
    compaction: Compaction,
    rung: Rung,
) -> SummaryRequest:
    """The summary request of a compaction on a rung; the same again at every repeat."""
    plan = compaction.plan
    assert plan is not None
    items = await planned_items(resources, connection, session, plan)
    recipe = recipe_of(session, {})
    if compaction.compact_with is not None:
        profile = compaction.compact_with
        recipe = replace(recipe, model=profile.name, profile=profile)
    style = style_of(policy_of(session))
    given = SummaryInput(
        model=recipe.model,
        profile=recipe.profile,
        surface=await _surface(resources, connection, recipe, compaction, style),
        items=items,
        keep_from=plan.keep_from,
        context=planned_context(resources, recipe, session, plan),
        style=compaction.style,
        instructions=compaction.instructions,
        min_level=rung.min_level,
        overflowed_tokens=rung.overflowed_tokens,
    )
    return await asyncio.to_thread(style.request, given)


def _summarising(session: Session, compact_with: ModelProfile | None) -> str:
    return session.model if compact_with is None else compact_with.name


def _key(
    session: Session,
    view_id: str | None,
    model: str,
    folded: Sequence[Item],
    through_sequence: int | None,
    instructions: str | None,
) -> str:
    return plan_key(
        PlanContent(
            policy=session.policy,
            model=model,
            folded=folded,
            boundaries={"through_sequence": through_sequence, "view_id": view_id},
            instructions=instructions,
        )
    )


async def planned_items(
    resources: Resources, connection: ReadConnection, session: Session, plan: Plan
) -> tuple[Item, ...]:
    """What was shown when a plan was made."""
    view = await CompactionRepository(connection, session.incarnation).view(plan.view_id)
    return await view_items(
        resources.checkpoints,
        connection,
        session.incarnation,
        view,
        plan.shown_through,
        counter_of(profile_of(session)),
        plan.visibility_ordinal,
    )


async def _surface(
    resources: Resources,
    connection: ReadConnection,
    recipe: Recipe,
    compaction: Compaction,
    style: Style,
) -> Surface:
    options = surface_options(recipe)
    is_bare = style.bare_prompt_by_hand and compaction.style != "cached"
    if compaction.kind == "manual" and is_bare:
        # Without a turn there are no tools, and so no rules of tools either.
        options = replace(options, tools="none")
    return await resources.surfaces.surface(
        connection, recipe.agent_ref, options, counter_of(recipe.profile)
    )


def planned_context(
    resources: Resources, recipe: Recipe, session: Session, plan: Plan
) -> StepContext:
    """What the steps of a summary request are told: the watermark is the one of the plan."""
    boundary = replace(recipe.boundary, through_sequence=plan.pruned_through)
    return step_context(resources, replace(recipe, boundary=boundary), session.incarnation)


async def _anchor(
    connection: ReadConnection, situation: Situation, item: Item | None
) -> tuple[str | None, int | None]:
    """Id and sequence of the stored request behind an anchor, replayed or not."""
    if item is None:
        return None, None
    if isinstance(item.source, Real):
        return item.source.id, item.source.sequence
    checkpoint_id = situation.view.checkpoint_id
    assert checkpoint_id is not None
    compactions = CompactionRepository(connection, situation.session.incarnation)
    checkpoint = (await compactions.get(checkpoint_id)).checkpoint
    assert checkpoint is not None
    return checkpoint.last_user_message_id, checkpoint.last_user_message_sequence


async def _gone_messages(
    connection: ReadConnection, session: Session, now: datetime
) -> frozenset[str]:
    """Messages whose calls no worker will answer: their turns failed or lapsed."""
    messages = MessageRepository(connection, session.incarnation)
    open_calls = await messages.open_calls()
    callers = await messages.turns_at({call.sequence for call in open_calls.values()})
    turn_ids = sorted({turn_id for turn_id in callers.values() if turn_id is not None})
    turns = await TurnRepository(connection, session.incarnation).by_ids(turn_ids)
    return frozenset(
        message_id
        for message_id, turn_id in callers.items()
        if turn_id in turns and turns[turn_id].is_gone(now)
    )
