"""The pure functions of the core for callers with a store of their own."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.agent import Agent
from app.core.blocks import Blocks
from app.core.chat_state import check_placement
from app.core.counting import TokenCounter
from app.core.engine import PreparedCall, PrepareInput, prepare
from app.core.facts import form_of
from app.core.ids import check_key
from app.core.items import Item, item_of
from app.core.messages import Kind, Role, Source, Synthetic
from app.core.model_profile import ModelProfile
from app.core.request_copy import PruneBoundary
from app.core.tool_surface import SurfaceOptions, build_surface
from app.policies.presets import PresetPolicy
from app.services.resources import Resources, counter_of
from app.world_state.baseline import Baseline
from app.world_state.capture import Capture
from app.world_state.retained import retained_sections
from app.world_state.sample_point import SamplePoint
from app.world_state.sampling import Sampling, sample
from app.world_state.sections import sections_with

_SCOPE = "stateless"
"""Namespace of synthetic ids where there is no session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenItem:
    """An item of a conversation that a caller keeps itself."""

    role: Role
    kind: Kind
    content: Blocks
    source: Source
    agent_visible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenState:
    """Everything that a stateless prepare depends on."""

    model_profile: ModelProfile
    policy: PresetPolicy
    agent: Agent
    conversation: Sequence[GivenItem]
    boundary: PruneBoundary
    generation: Mapping[str, object]


async def prepare_given(resources: Resources, state: GivenState) -> PreparedCall:
    """The next call of a conversation that is given whole.

    Raises:
        ContextError: The conversation or the request is refused.
    """
    return await asyncio.to_thread(_prepare, resources, state)


def diff_given(
    capture: Capture,
    point: SamplePoint,
    baseline: Baseline,
    retained: Sequence[str] | None,
    texts: Sequence[str],
) -> Sampling:
    """What a capture changes; where `retained` is None, `texts` tell what is kept.

    Raises:
        ContextError: A section cannot be taken.
    """
    check_key(point.turn_id, "turn_id")
    kept = (
        retained_sections(texts, sections_with(capture.custom))
        if retained is None
        else frozenset(retained)
    )
    return sample(capture, point=point, baseline=baseline, kept=kept, on_error={}, last_good={})


def _prepare(resources: Resources, state: GivenState) -> PreparedCall:
    counter = counter_of(state.model_profile)
    options = SurfaceOptions(
        is_root=True, sandbox_available=True, tool_order=state.policy.tool_order
    )
    call = prepare(
        PrepareInput(
            model=state.model_profile.name,
            profile=state.model_profile,
            policy=state.policy,
            surface=build_surface(state.agent, options, counter),
            items=given_items(state.conversation, counter),
            boundary=state.boundary,
            generation=state.generation,
            scope=_SCOPE,
            counter=counter,
            chat=resources.chats,
            memo=resources.memo,
            is_partial=any(map(_is_summary, state.conversation)),
        )
    )
    # Indexes count into what was given, whatever of it the model may see.
    shown = [index for index, given in enumerate(state.conversation) if given.agent_visible]
    repairs = (replace(repair, item_index=shown[repair.item_index]) for repair in call.repairs)
    return replace(call, repairs=tuple(repairs))


def _is_summary(given: GivenItem) -> bool:
    source = given.source
    return isinstance(source, Synthetic) and source.reason == "compaction_summary"


def given_items(conversation: Sequence[GivenItem], counter: TokenCounter) -> tuple[Item, ...]:
    """The items of a conversation that a model may see.

    Raises:
        EmptyMessage, InvalidToolMessage, UnexpectedRole: A block stands where
            it cannot.
    """
    for index, given in enumerate(conversation):
        if given.role != "system":
            # A system message is refused by the engine, in its own order.
            check_placement(given.role, given.kind, given.content, index)
    return tuple(
        item_of(given.role, given.kind, form_of(given.role, given.content, counter), given.source)
        for given in conversation
        if given.agent_visible
    )
