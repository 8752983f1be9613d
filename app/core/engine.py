"""Prepare: state in, the next model call out. The one way to a request.

Source: docs/semantics/engine.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.core.arguments import shorten_arguments
from app.core.budget import (
    Budget,
    RegionTokens,
    estimate_regions,
    make_budget,
    tokenizer_regions,
)
from app.core.calibration import Prediction, predict
from app.core.call_size import CallSize, call_size
from app.core.chat_count import SeparateChats
from app.core.counting import TokenCounter
from app.core.errors import (
    DuplicateSystemContext,
    EmptySystemContext,
    EmptySystemContextKey,
    SystemMessageInConversation,
)
from app.core.held import without_held
from app.core.image_age import age_images
from app.core.item_limits import check_system_part
from app.core.items import Item
from app.core.limits import Decision, Limits, Phase
from app.core.mending import mend
from app.core.model_profile import ModelProfile
from app.core.normalize import normalize
from app.core.on_record import cut_on_record
from app.core.policy import Measured, Policy, ShownItems
from app.core.project import project
from app.core.prune import prune
from app.core.renamed_calls import rename_calls
from app.core.repeated import refer_repeated
from app.core.request import request_fragments
from app.core.request_copy import (
    Memo,
    ProjectionSummary,
    PruneBoundary,
    PruneCounts,
    Repair,
    RequestCopy,
    Step,
    StepContext,
)
from app.core.shares import calibrated_tokens
from app.core.text import is_blank
from app.core.thinking import drop_emptied, drop_thinking
from app.core.tool_surface import Surface, SystemMessage
from app.core.trim_step import show_newest
from app.core.trimming import Measure
from app.core.usage import NO_USAGE, UsageState
from app.core.visibility import for_agent
from app.core.wrapped_arguments import wrap_arguments

WATERMARK_STEPS: tuple[Step, ...] = (refer_repeated, prune, shorten_arguments, drop_thinking)
"""The steps that change nothing but old messages. Repetitions are looked for first, among results
as they are stored."""

STEPS: tuple[Step, ...] = (
    for_agent,
    show_newest,
    rename_calls,
    wrap_arguments,
    *WATERMARK_STEPS,
    project,
    cut_on_record,
    age_images,
    mend,
    normalize,
    drop_emptied,
)
"""What is not for the model goes first, then what is too old for it. Prune shortens what project
measures, and normalize comes behind all that rewrites, so that no later step can separate a tool
call from its result. A message without content has no calls."""

_TOLD_STEPS: tuple[Step, ...] = (for_agent, *WATERMARK_STEPS, project, cut_on_record)

_EMPTY_CONTENT = b"[]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareInput:
    """All that a prepared call depends on."""

    model: str
    profile: ModelProfile
    policy: Policy
    surface: Surface
    items: tuple[Item, ...]
    boundary: PruneBoundary
    generation: Mapping[str, object]
    scope: str
    counter: TokenCounter
    memo: Memo
    is_partial: bool = False
    """Whether a compaction or a rewind hides messages in front of the items."""
    held_through: int | None = None
    """The last message that the provider holds itself; None: it holds nothing."""
    usage: UsageState = NO_USAGE
    phase: Phase = "pre_turn"
    chat: Measure | None = None
    """Counts a message as a chat of its own, where no provider has reported; None: by `counter`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """The next model call: its request, what it takes, and what to do with it."""

    model: str
    profile: ModelProfile
    policy: Policy
    surface: Surface
    conversation: tuple[Item, ...]
    generation: Mapping[str, object]
    measured: Measured
    budget: Budget
    limits: Limits
    decision: Decision
    projection: ProjectionSummary
    boundary: PruneBoundary
    pruned: PruneCounts
    repairs: tuple[Repair, ...]
    size: CallSize
    """What a report of this call's usage is compared to."""
    prediction: Prediction | None

    def request_fragments(self) -> list[bytes]:
        """The neutral request in pieces; joining them gives its exact bytes."""
        return request_fragments(
            self.model,
            self.surface.system,
            self.conversation,
            self.surface.tools,
            self.generation,
            self.profile.max_output_tokens,
        )


def request_copy(items: tuple[Item, ...], context: StepContext) -> RequestCopy:
    """The items as they will be sent; `items` itself is untouched."""
    return _stepped(RequestCopy(items=items), STEPS, context)


def told_copy(items: Sequence[Item], context: StepContext) -> tuple[Item, ...]:
    """The items as a model was shown them, not paired: for text that tells of them."""
    return _stepped(RequestCopy(items=tuple(items)), _TOLD_STEPS, context).items


def watermark_copy(items: tuple[Item, ...], context: StepContext) -> RequestCopy:
    """The items after the steps that the boundary decides about, one for one."""
    return _stepped(RequestCopy(items=items), WATERMARK_STEPS, context)


def prepare(given: PrepareInput) -> PreparedCall:
    """The next model call of `given`. Equal input gives equal bytes.

    Raises:
        UnsupportedUserData: User input holds media that the model refuses.
        EmptySystemContextKey, EmptySystemContext, DuplicateSystemContext,
        ItemOverLimit: A system part cannot be sent.
        SystemMessageInConversation: A system message stands among the items.
    """
    copy = _sent_copy(given)
    check_system_parts(given.surface.system)
    _refuse_system_messages(copy.items)
    surface = given.surface
    max_output = given.profile.max_output_tokens
    limits = given.policy.limits(given.profile, max_output or 0)
    estimate = estimate_regions(surface.system, copy.items, surface.tools)
    tokenizer = tokenizer_regions(surface.system, copy.items, surface.tools)
    size, prediction = _predicted(given, copy.items)
    measured = _measured(given, copy.items, estimate, tokenizer, prediction)
    decision = given.policy.decide(measured, limits)
    budget = make_budget(estimate, tokenizer, given.counter.basis, limits, decision, max_output)
    return PreparedCall(
        model=given.model,
        profile=given.profile,
        policy=given.policy,
        surface=surface,
        conversation=copy.items,
        generation=given.generation,
        measured=measured,
        budget=replace(budget, calibrated=calibrated_tokens(size, prediction)),
        limits=limits,
        decision=decision,
        projection=copy.projection,
        boundary=given.boundary,
        pruned=copy.pruned,
        repairs=copy.repairs,
        size=size,
        prediction=prediction,
    )


def check_system_parts(parts: Sequence[SystemMessage]) -> None:
    """Refuse system parts that no request may carry, in order.

    Raises:
        EmptySystemContextKey, EmptySystemContext, DuplicateSystemContext,
        ItemOverLimit: The first part that fails, by its first fault.
    """
    seen: set[str] = set()
    for part in parts:
        if is_blank(part.key):
            raise EmptySystemContextKey("system context key must not be empty", key=part.key)
        if part.form.content == _EMPTY_CONTENT:
            raise EmptySystemContext(
                f"system context part must not be empty: {part.key}", key=part.key
            )
        if part.key in seen:
            raise DuplicateSystemContext(f"duplicate system context key: {part.key}", key=part.key)
        seen.add(part.key)
        check_system_part(part.key, part.form.facts.json_bytes)


def _predicted(given: PrepareInput, items: Sequence[Item]) -> tuple[CallSize, Prediction | None]:
    size = call_size(
        given.surface.system,
        items,
        given.surface.tools,
        given.counter.basis,
        given.usage.calibration.through_sequence,
        given.held_through,
    )
    return size, predict(given.usage.calibration, given.model, size)


def _sent_copy(given: PrepareInput) -> RequestCopy:
    """What is sent of the whole conversation's copy."""
    whole = RequestCopy(items=given.items, held_through=given.held_through)
    return without_held(_stepped(whole, STEPS, _step_context(given)), given.items)


def _stepped(copy: RequestCopy, steps: tuple[Step, ...], context: StepContext) -> RequestCopy:
    for step in steps:
        copy = step(copy, context)
    return copy


def _refuse_system_messages(items: Sequence[Item]) -> None:
    for index, item in enumerate(items):
        if item.role == "system":
            raise SystemMessageInConversation(
                "conversation view must not contain system messages", item_index=index
            )


def _measured(
    given: PrepareInput,
    items: tuple[Item, ...],
    estimate: RegionTokens,
    tokenizer: RegionTokens,
    prediction: Prediction | None,
) -> Measured:
    return Measured(
        profile=given.profile,
        estimated_tokens=estimate.total,
        tokenizer_tokens=tokenizer.total,
        calibrated_tokens=None if prediction is None else prediction.tokens,
        fixed_tokens=estimate.system_context + estimate.tool_surface,
        least_fixed_tokens=min(
            region.system_context + region.tool_surface for region in (estimate, tokenizer)
        ),
        items=items,
        whole=ShownItems(
            items=given.items, chat=given.chat or SeparateChats(counter=given.counter)
        ),
        usage=given.usage,
        phase=given.phase,
    )


def _step_context(given: PrepareInput) -> StepContext:
    return StepContext(
        boundary=given.boundary,
        prune_tool_result_chars=given.policy.prune_tool_result_chars,
        max_tool_result_tokens=given.policy.max_tool_result_tokens,
        shaping=given.policy.shaping,
        accepts_data_blocks=given.profile.accepts_data_blocks,
        scope=given.scope,
        counter=given.counter,
        memo=given.memo,
        is_partial=given.is_partial,
    )
