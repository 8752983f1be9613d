"""The pure functions of the core for workers with a store of their own."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.api.answers import NOTHING_REPORTED_BASIS, Answer, block_answer, limits_answer
from app.api.dependencies import JsonBody, Service
from app.api.openapi_docs import reads, refuses_body
from app.api.prepare import ENGINE_REFUSALS, REQUEST_RESPONSE, call_answer, request_response
from app.api.prepare_models import GivenPreparedOut
from app.api.repairs import body_repairs
from app.api.responses import json_response
from app.api.stateless_models import (
    DiffIn,
    DiffOut,
    EstimateIn,
    EstimatesOut,
    GivenLimitsOut,
    GivenPrepareIn,
    LimitsIn,
    baseline_answer,
)
from app.api.usage_models import standing_answer
from app.api.validation import validated
from app.api.world_state import CAPTURE_REFUSALS
from app.core import canonical, errors
from app.policies.codex_window import InvalidWindow
from app.policies.overrides import UnknownPolicyOverride
from app.policies.presets import UnknownPolicy, policy_from
from app.services.estimates import Estimate, estimate_given
from app.services.given_limits import limits_given, standing_given
from app.services.stateless import diff_given, prepare_given
from app.services.wordings import wording_of
from app.services.world_state import warning_answer

router = APIRouter(prefix="/v1", tags=["stateless"])

_PROFILE = {"name": "model-a", "context_window": 200_000, "max_output_tokens": 32_000}
_SETTING_REFUSALS = (
    errors.InvalidModelProfile,
    UnknownPolicy,
    UnknownPolicyOverride,
    InvalidWindow,
)


@router.post(
    "/prepare",
    response_model=GivenPreparedOut,
    responses=REQUEST_RESPONSE
    | refuses_body(
        *_SETTING_REFUSALS,
        errors.ToolNameCollision,
        errors.EmptyMessage,
        errors.InvalidToolMessage,
        errors.UnexpectedRole,
        *ENGINE_REFUSALS,
    ),
    openapi_extra=reads(
        GivenPrepareIn,
        {
            "model_profile": _PROFILE,
            "system_parts": [{"key": "core/agent-system", "content": "You fix bugs."}],
            "conversation": [{"role": "user", "content": "Fix the build."}],
        },
    ),
)
async def prepare(service: Service, body: JsonBody, http_request: Request) -> Response:
    """Prepare the next call of a conversation that is given whole; nothing is stored."""
    given = validated(GivenPrepareIn, body.value)
    call = await prepare_given(service, given.state())
    wording = await wording_of(call, given.format)
    about = canonical.encode(await call_answer(wording, given.include, body_repairs(body, [])))
    return request_response(about, wording, http_request)


@router.post(
    "/limits",
    response_model=GivenLimitsOut,
    responses=refuses_body(*_SETTING_REFUSALS),
    openapi_extra=reads(LimitsIn, {"model_profile": _PROFILE, "policy": "openwork"}),
)
async def limits(body: JsonBody) -> Response:
    """The limits of a model under a policy, and with usage what follows."""
    given = validated(LimitsIn, body.value)
    profile, policy = given.model_profile.profile(), policy_from(given.policy)
    derived = limits_given(policy, profile)
    answer: Answer = {"limits": limits_answer(derived, profile, policy)}
    if given.usage is not None:
        usage = given.usage.usage(given.previous_model_profile)
        answer |= standing_answer(standing_given(policy, profile, derived, usage))
    return json_response({**answer, "repairs": body_repairs(body, [])})


@router.post(
    "/estimate",
    response_model=EstimatesOut,
    responses=refuses_body(*_SETTING_REFUSALS),
    openapi_extra=reads(EstimateIn, {"text": "How many tokens are these?"}),
)
async def estimate(body: JsonBody) -> Response:
    """Sizes by every counter, as things are: nothing is pruned, projected or repaired."""
    given = validated(EstimateIn, body.value)
    policy_from(given.policy)
    estimates = await estimate_given(given.subject(), given.profile())
    return json_response(
        {
            "items": [
                {**_estimate(item), "blocks": [block_answer(block) for block in item.blocks]}
                for item in estimates.items
            ],
            "total": _estimate(estimates.total),
            "basis": {
                "policy": "json_bytes",
                "json_bytes": "UTF-8 bytes of compact JSON / 4, rounded up",
                "tokenizer": estimates.basis,
                "calibrated": NOTHING_REPORTED_BASIS,
            },
            "repairs": body_repairs(body, []),
        }
    )


@router.post(
    "/world-state/diff",
    response_model=DiffOut,
    responses=refuses_body(errors.InvalidId, *CAPTURE_REFUSALS),
    openapi_extra=reads(
        DiffIn,
        {
            "capture": {"instructions": {"content": "Run the tests.\n"}},
            "baseline": {"project/AGENTS.md": {"state": "unknown"}},
            "retained": [],
            "turn_id": "t-1",
            "model_call": 1,
            "sample": 1,
        },
    ),
)
async def diff(body: JsonBody) -> Response:
    """What a capture changes for a model that was told a baseline; nothing is stored."""
    given = validated(DiffIn, body.value)
    sampling = diff_given(
        given.capture.capture(),
        given.point(),
        given.known(),
        given.retained,
        given.world_state_texts(),
    )
    return json_response(
        {
            "emissions": [
                {
                    "section": emission.section,
                    "message_id": emission.message_id,
                    "notice": emission.notice,
                    "text": emission.text,
                }
                for emission in sampling.emissions
            ],
            "baseline": baseline_answer(sampling.baseline),
            "warnings": [warning_answer(warning) for warning in sampling.warnings],
            "repairs": body_repairs(body, []),
        }
    )


def _estimate(estimate: Estimate) -> Answer:
    return {
        "bytes": estimate.size_bytes,
        "json_bytes": estimate.json_tokens,
        "tokenizer": estimate.tokenizer_tokens,
        "calibrated": None,
        "policy": estimate.json_tokens,
    }
