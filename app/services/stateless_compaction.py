"""Compaction for callers with a store of their own: plan, check, replace."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.compaction.fold import NOBODY_GONE
from app.compaction.ladder import UNCOUNTED
from app.compaction.plan_key import PlanContent, plan_key
from app.compaction.record import CompactionKind, CompactionPhase, SummaryStyle
from app.compaction.replacement import GivenCompaction, Replaced, replace_conversation
from app.compaction.runtime_state import EMPTY_STATE, state_from_json
from app.compaction.summary_check import SummaryCheck
from app.compaction.summary_request import SummaryInput, SummaryRequest
from app.compaction.turn_plan import TurnPlan
from app.compaction.watermark import PrunePlan, plan_prune
from app.core.agent import Agent
from app.core.chat_state import refuse_system_role
from app.core.counting import TokenCounter
from app.core.items import Item
from app.core.model_profile import ModelProfile, unknown_profile
from app.core.phase import phase_of
from app.core.request_copy import PruneBoundary, StepContext
from app.core.tool_surface import SurfaceOptions, build_surface
from app.policies.presets import PresetPolicy, policy_json
from app.services.in_force import given_in_force
from app.services.profiles import style_of
from app.services.resources import Resources, counter_of
from app.services.stateless import GivenItem, given_items
from app.services.summary_checks import checked_summary

_SCOPE = "stateless"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPlan:
    """A conversation, and how a compaction of it should ask for its summary."""

    model_profile: ModelProfile
    policy: PresetPolicy
    agent: Agent
    conversation: Sequence[GivenItem]
    kind: CompactionKind
    phase: CompactionPhase | None
    """None: by hand none at all, in a turn what the conversation tells."""
    instructions: str | None
    style: SummaryStyle
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGiven:
    """What a compaction would fold, and what a model would be asked."""

    keep_from: int
    request: SummaryRequest
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenReplacement:
    """A conversation and the summary that stands for its front."""

    policy: PresetPolicy
    conversation: Sequence[GivenItem]
    kind: CompactionKind
    phase: CompactionPhase | None
    """None: by hand none at all, in a turn what the conversation tells."""
    summary: str
    runtime_state: Mapping[str, object] | None
    plan: TurnPlan | None
    compaction_id: str


async def plan_prune_given(
    conversation: Sequence[GivenItem], current: int | None, policy: PresetPolicy
) -> PrunePlan | None:
    """The move of the watermark that a conversation allows; None where it shortens nothing."""
    return await asyncio.to_thread(_plan_prune, conversation, current, policy)


async def plan_given(resources: Resources, given: GivenPlan) -> PlannedGiven:
    """What a compaction of a conversation would fold and ask.

    Raises:
        EmptyConversation, MissingLastUser, NothingToCompact: It would fold nothing.
    """
    return await asyncio.to_thread(_plan, resources, given)


async def check_given(
    policy: PresetPolicy, text: str, finish_reason: str | None, tool_calls: int
) -> SummaryCheck:
    """The summary that a policy would store of a model's answer, or what is wrong with it."""
    profile = unknown_profile("")
    return await checked_summary(policy, profile, text, finish_reason, tool_calls, attempts_left=0)


async def replace_given(given: GivenReplacement, profile: ModelProfile) -> Replaced:
    """A conversation as it is seen after a compaction.

    Raises:
        EmptyConversation, MissingLastUser, NothingToCompact, StateError: It
            cannot be compacted.
    """
    return await asyncio.to_thread(_replace, given, counter_of(profile))


def _plan_prune(
    conversation: Sequence[GivenItem], current: int | None, policy: PresetPolicy
) -> PrunePlan | None:
    context = StepContext(
        boundary=PruneBoundary(through_sequence=current),
        prune_tool_result_chars=policy.prune_tool_result_chars,
        max_tool_result_tokens=policy.max_tool_result_tokens,
        shaping=policy.shaping,
        accepts_data_blocks=True,
        scope=_SCOPE,
        counter=UNCOUNTED,
        memo={},
    )
    return plan_prune(visible_items(conversation, UNCOUNTED), context)


def _plan(resources: Resources, given: GivenPlan) -> PlannedGiven:
    counter = counter_of(given.model_profile)
    items = visible_items(given.conversation, counter)
    style = style_of(given.policy)
    fold = style.fold(items, _phase(given.kind, given.phase, items), NOBODY_GONE)
    options = SurfaceOptions(
        is_root=True, sandbox_available=True, tool_order=given.policy.tool_order
    )
    request = style.request(
        SummaryInput(
            model=given.model_profile.name,
            profile=given.model_profile,
            surface=build_surface(given.agent, options, counter),
            items=items,
            keep_from=fold.keep_from,
            context=given_context(resources, given, counter),
            style=given.style,
            instructions=given.instructions,
            min_level=given.level,
        )
    )
    content = PlanContent(
        policy=policy_json(given.policy),
        model=given.model_profile.name,
        folded=items[: fold.keep_from],
        boundaries={"through_sequence": fold.through_sequence, "view_id": None},
        instructions=given.instructions,
    )
    return PlannedGiven(
        keep_from=given_positions(given.conversation)[fold.keep_from],
        request=request,
        key=plan_key(content),
    )


def given_context(resources: Resources, given: GivenPlan, counter: TokenCounter) -> StepContext:
    """What the steps of a summary request are told: nothing is pruned."""
    return StepContext(
        boundary=PruneBoundary(),
        prune_tool_result_chars=given.policy.prune_tool_result_chars,
        max_tool_result_tokens=given.policy.max_tool_result_tokens,
        shaping=given.policy.shaping,
        accepts_data_blocks=given.model_profile.accepts_data_blocks,
        scope=_SCOPE,
        counter=counter,
        memo=resources.memo,
    )


def _replace(given: GivenReplacement, counter: TokenCounter) -> Replaced:
    items = visible_items(given.conversation, counter)
    style = style_of(given.policy)
    phase = _phase(given.kind, given.phase, items)
    fold = style.fold(items, phase, NOBODY_GONE)
    state = given.runtime_state
    compaction = GivenCompaction(
        compaction_id=given.compaction_id,
        keep_from=fold.keep_from,
        phase=phase,
        context=given_in_force(items[: fold.keep_from]),
        summary=given.summary,
        base=EMPTY_STATE if state is None else state_from_json(state),
        plan=given.plan,
    )
    replaced = replace_conversation(items, compaction, style, counter)
    positions = given_positions(given.conversation)
    return replace(replaced, hidden=tuple(positions[index] for index in replaced.hidden))


def _phase(
    kind: CompactionKind, phase: CompactionPhase | None, items: Sequence[Item]
) -> CompactionPhase:
    if phase is not None:
        return phase
    return "standalone" if kind == "manual" else phase_of(items, None)


def visible_items(conversation: Sequence[GivenItem], counter: TokenCounter) -> tuple[Item, ...]:
    """What of a conversation a model may see.

    Raises:
        SystemMessageInConversation: A system message stands in it.
    """
    for index, given in enumerate(conversation):
        refuse_system_role(given.role, index)
    return given_items(conversation, counter)


def given_positions(conversation: Sequence[GivenItem]) -> list[int]:
    """Where the items that a model may see stand in the conversation, and where it ends."""
    visible = [index for index, given in enumerate(conversation) if given.agent_visible]
    return [*visible, len(conversation)]
