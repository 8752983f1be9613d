"""Compaction for workers with a store of their own."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.api.answers import Answer
from app.api.compaction_models import RequestedKind, StartedKind
from app.api.compactions import FOLD_REFUSALS
from app.api.dependencies import JsonBody, Service
from app.api.message_models import RepairOut
from app.api.openapi_docs import reads, refuses_body
from app.api.pair_models import PairOut, pair_bytes, with_pairs
from app.api.prepare_models import RequestOut
from app.api.repairs import with_repairs
from app.api.responses import JSON, json_response, spliced
from app.api.stateless_models import ItemIn
from app.api.validation import WireModel, validated
from app.api.wire import Count, ModelProfileIn, SystemPartIn, ToolIn
from app.compaction import errors as compaction_errors
from app.compaction.record import CompactionPhase
from app.compaction.summary_check import SummaryAccepted
from app.compaction.turn_plan import TurnPlan, plan_from_json
from app.core import canonical, errors
from app.core.agent import Agent
from app.core.items import Item
from app.core.messages import Real
from app.core.model_profile import unknown_profile
from app.policies.codex_window import InvalidWindow
from app.policies.overrides import UnknownPolicyOverride
from app.policies.presets import DEFAULT_PRESET, UnknownPolicy, policy_from
from app.services.stateless_compaction import (
    GivenPlan,
    GivenReplacement,
    check_given,
    plan_given,
    plan_prune_given,
    replace_given,
)
from app.services.stateless_pairs import PlannedPairs, plan_pairs_given

router = APIRouter(prefix="/v1", tags=["stateless compaction"])

_PLACEMENT = (
    errors.SystemMessageInConversation,
    errors.EmptyMessage,
    errors.InvalidToolMessage,
    errors.UnexpectedRole,
)
_SETTINGS = (errors.InvalidModelProfile, UnknownPolicy, UnknownPolicyOverride, InvalidWindow)
_CONVERSATION = [{"role": "user", "content": "Fix the build."}]


class PrunePlanIn(WireModel):
    """A conversation and its watermark."""

    conversation: list[ItemIn]
    current: Count | None = None
    policy: str | dict[str, Any] = DEFAULT_PRESET


class PrunePlanOut(BaseModel):
    """The new watermark, null where it would shorten nothing."""

    through_sequence: int | None
    tool_result_ids: list[str]
    call_ids: list[str]
    thinking_blocks: int


class FoldPlanIn(WireModel):
    """A conversation to compact."""

    policy: str | dict[str, Any] = DEFAULT_PRESET
    model_profile: ModelProfileIn
    conversation: list[ItemIn]
    kind: StartedKind
    phase: CompactionPhase | None = None
    instructions: str | None = None
    level: Count = 0
    summary_request_style: Literal["cached", "flat"] | None = None
    system_parts: list[SystemPartIn] = Field(default_factory=list)
    tools: list[ToolIn] = Field(default_factory=list)


class FoldPlanOut(BaseModel):
    """What is folded, and what a model is asked; of tool pairs what is asked of each."""

    keep_from: int | None = Field(description="Null where nothing is folded: of tool pairs.")
    fold_through: int | None
    plan_key: str
    level: int
    fits: bool
    summary_request: RequestOut | None = None
    removed_tool_results: list[str]
    pairs: list[PairOut] | None = None
    repairs: list[RepairOut] | None = None


class ReplaceIn(WireModel):
    """A conversation and the summary that stands for its front."""

    policy: str | dict[str, Any] = DEFAULT_PRESET
    conversation: list[ItemIn]
    kind: RequestedKind
    phase: CompactionPhase | None = None
    summary: str
    plan: dict[str, Any] | None = None
    runtime_state: dict[str, Any] | None = None

    def turn_plan(self) -> TurnPlan | None:
        """The plan of the turn that compacts.

        Raises:
            StateError: It is no plan.
        """
        return None if self.plan is None else plan_from_json(self.plan)


class ReplacedOut(BaseModel):
    """The whole conversation as it is seen afterwards."""

    items: list[dict[str, Any]]
    hidden: list[int]
    repairs: list[RepairOut] | None = None


class CheckSummaryIn(WireModel):
    """A model's answer to a summary request."""

    policy: str | dict[str, Any] = DEFAULT_PRESET
    text: str
    finish_reason: str | None = None
    tool_calls: Count | list[Any] = 0


class CheckSummaryOut(BaseModel):
    """Whether it may be stored, and what would be."""

    accepted: bool
    reason: str | None
    summary: str | None
    repairs: list[RepairOut] | None = None


@router.post(
    "/prune/plan",
    response_model=PrunePlanOut,
    responses=refuses_body(*_SETTINGS, *_PLACEMENT),
    openapi_extra=reads(PrunePlanIn, {"conversation": _CONVERSATION, "current": None}),
)
async def plan_prune(body: JsonBody) -> Response:
    """The move of the watermark that shortens old messages."""
    given = validated(PrunePlanIn, body.value)
    items = [item.item(index) for index, item in enumerate(given.conversation)]
    plan = await plan_prune_given(items, given.current, policy_from(given.policy))
    return json_response(
        {
            "through_sequence": None if plan is None else plan.through_sequence,
            "tool_result_ids": [] if plan is None else list(plan.tool_result_ids),
            "call_ids": [] if plan is None else list(plan.call_ids),
            "thinking_blocks": 0 if plan is None else plan.thinking_blocks,
        }
    )


@router.post(
    "/compaction/plan",
    response_model=FoldPlanOut,
    responses=refuses_body(*_SETTINGS, *_PLACEMENT, *FOLD_REFUSALS),
    openapi_extra=reads(
        FoldPlanIn,
        {
            "model_profile": {"name": "model-a", "context_window": 200_000},
            "conversation": _CONVERSATION,
            "kind": "manual",
        },
    ),
)
async def plan(service: Service, body: JsonBody) -> Response:
    """What a compaction would fold, and the request for its summary."""
    given = validated(FoldPlanIn, body.value)
    if given.kind == "tool_pairs":
        return _pairs(await plan_pairs_given(service, _given_plan(given)))
    planned = await plan_given(service, _given_plan(given))
    request = planned.request
    before = canonical.encode(
        {
            "keep_from": planned.keep_from,
            "fold_through": planned.keep_from - 1,
            "plan_key": planned.key,
            "level": request.level,
            "fits": request.problem is None,
            "removed_tool_results": list(request.removed_call_ids),
        }
    )
    told = with_repairs(spliced(before, "summary_request", [request.body]), body)
    return Response(told, media_type=JSON)


@router.post(
    "/compaction/replace",
    response_model=ReplacedOut,
    responses=refuses_body(*_SETTINGS, *_PLACEMENT, *FOLD_REFUSALS, compaction_errors.StateError),
    openapi_extra=reads(
        ReplaceIn,
        {"conversation": _CONVERSATION, "kind": "manual", "summary": "What happened so far."},
    ),
)
async def replace(body: JsonBody) -> Response:
    """A conversation with its front replaced by a summary and what is kept beside it."""
    given = validated(ReplaceIn, body.value)
    replacement = GivenReplacement(
        policy=policy_from(given.policy),
        kind=given.kind,
        phase=given.phase,
        conversation=[item.item(index) for index, item in enumerate(given.conversation)],
        summary=given.summary,
        runtime_state=given.runtime_state,
        plan=given.turn_plan(),
        compaction_id="compaction",
    )
    replaced = await replace_given(replacement, unknown_profile("unknown"))
    before = canonical.encode({"hidden": list(replaced.hidden)})
    items = b",".join(map(_item, replaced.items))
    told = with_repairs(spliced(before, "items", [b"[", items, b"]"]), body)
    return Response(told, media_type=JSON)


@router.post(
    "/compaction/check-summary",
    response_model=CheckSummaryOut,
    responses=refuses_body(*_SETTINGS),
    openapi_extra=reads(CheckSummaryIn, {"text": "<conversation_summary …>"}),
)
async def check(body: JsonBody) -> Response:
    """Whether a model's answer is a summary that may be stored."""
    given = validated(CheckSummaryIn, body.value)
    calls = given.tool_calls
    checked = await check_given(
        policy_from(given.policy),
        given.text,
        given.finish_reason,
        len(calls) if isinstance(calls, list) else calls,
    )
    accepted = isinstance(checked, SummaryAccepted)
    answer = {
        "accepted": accepted,
        "reason": None if isinstance(checked, SummaryAccepted) else checked.reason,
        "summary": checked.summary if isinstance(checked, SummaryAccepted) else None,
    }
    return Response(with_repairs(canonical.encode(answer), body), media_type=JSON)


def _pairs(planned: PlannedPairs) -> Response:
    before = canonical.encode(
        {
            "keep_from": None,
            "fold_through": None,
            "plan_key": planned.key,
            "level": 0,
            "fits": True,
            "removed_tool_results": [],
        }
    )
    pairs = [
        pair_bytes(
            {
                "call_ids": list(pair.call_ids),
                "message_ids": list(pair.message_ids),
                "indexes": list(pair.indexes),
            },
            pair.request,
        )
        for pair in planned.pairs
    ]
    return Response(with_pairs(before, pairs), media_type=JSON)


def _given_plan(given: FoldPlanIn) -> GivenPlan:
    return GivenPlan(
        model_profile=given.model_profile.profile(),
        policy=policy_from(given.policy),
        agent=Agent(
            system_parts=tuple(part.part() for part in given.system_parts),
            tools=tuple(tool.tool() for tool in given.tools),
        ),
        conversation=[item.item(index) for index, item in enumerate(given.conversation)],
        kind=given.kind,
        phase=given.phase,
        instructions=given.instructions,
        style=given.summary_request_style or "conversation",
        level=given.level,
    )


def _item(item: Item) -> bytes:
    before = canonical.encode({"role": item.role, "kind": item.kind, "source": _source(item)})
    return spliced(before, "content", [item.content])


def _source(item: Item) -> Answer:
    source = item.source
    if isinstance(source, Real):
        known = {"id": source.id, "sequence": source.sequence}
        return {
            "type": "real",
            **{name: value for name, value in known.items() if value is not None},
        }
    return {"type": "synthetic", "reason": source.reason, "id": source.id}
