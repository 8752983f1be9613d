"""The preview: what the next model call would see, and how full the session is."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from app.api.answers import Answer, budget_answer, decision_answer, limits_answer
from app.api.dependencies import Service, SessionId
from app.api.openapi_docs import refuses
from app.api.prepare import ENGINE_REFUSALS
from app.api.prepare_models import BudgetOut, DecisionOut, LimitsOut
from app.api.responses import JSON, spliced
from app.api.session_models import ToolOut
from app.core import canonical, errors
from app.core.items import Item, message_id
from app.core.tool_surface import SystemMessage
from app.policies.presets import policy_from
from app.services.inspect import Preview, preview_call

router = APIRouter(prefix="/v1/sessions/{session_id}/context", tags=["inspect"])

SCHEMA_VERSION = 3
"""OpenWork's 2 was the shape without the window."""


class ContextQuery(BaseModel):
    """How much of the preview to show."""

    model_config = ConfigDict(extra="forbid")

    content: bool = Field(default=True, description="Whether to show more than numbers.")


class SystemContextOut(BaseModel):
    """One system message of the request."""

    source_key: str
    content: list[dict[str, Any]]


class ConversationMessageOut(BaseModel):
    """One message of the request copy."""

    message_id: str
    turn_id: str | None
    role: str
    content: list[dict[str, Any]]


class ContextBudgetOut(BudgetOut):
    """The budget, with what a display needs beside it."""

    context_window_tokens: int | None
    auto_compaction_threshold_percent: int


class ContextOut(BaseModel):
    """The preview of a session. Without content, only its numbers."""

    schema_version: int
    session_id: str
    current_turn_id: str | None
    resolved_model_name: str
    system_context: list[SystemContextOut] | None = None
    conversation: list[ConversationMessageOut] | None = None
    tool_surface: list[ToolOut] | None = None
    budget: ContextBudgetOut
    limits: LimitsOut
    decision: DecisionOut


@router.get(
    "",
    response_model=ContextOut,
    responses=refuses(
        errors.SessionNotFound, errors.InvalidRequest, errors.UnknownField, *ENGINE_REFUSALS
    ),
)
async def read(
    service: Service,
    session_id: SessionId,
    wanted: Annotated[ContextQuery, Query()],
) -> Response:
    """What the next call would be from what is stored; nothing is sampled or changed."""
    preview = await preview_call(service, session_id)
    numbers = canonical.encode(_numbers(preview))
    if not wanted.content:
        return Response(numbers, media_type=JSON)
    surface = preview.call.surface
    body = spliced(numbers, "system_context", [_array(map(_system_element, surface.system))])
    body = spliced(body, "conversation", [_array(_conversation(preview))])
    tools = _array(tool.encoded for tool in surface.tools)
    return Response(spliced(body, "tool_surface", [tools]), media_type=JSON)


def _numbers(preview: Preview) -> Answer:
    call, session = preview.call, preview.session
    policy = policy_from(session.policy)
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": session.id,
        "current_turn_id": _current_turn(preview),
        "resolved_model_name": session.model,
        "budget": {
            **budget_answer(call.budget),
            "context_window_tokens": call.limits.context_window,
            "auto_compaction_threshold_percent": policy.line.line_percent,
        },
        "limits": limits_answer(call.limits, call.profile, call.policy, preview.learned),
        "decision": decision_answer(call.decision),
    }


def _current_turn(preview: Preview) -> str | None:
    """The turn of the newest message shown that has one."""
    newest_first = reversed(preview.call.conversation)
    turns = (preview.turn_ids.get(message_id(item) or "") for item in newest_first)
    return next((turn for turn in turns if turn is not None), None)


def _conversation(preview: Preview) -> Iterator[bytes]:
    for index, item in enumerate(preview.call.conversation):
        yield spliced(_message(preview, index, item), "content", [item.content])


def _message(preview: Preview, index: int, item: Item) -> bytes:
    stored = message_id(item)
    return canonical.encode(
        {
            "message_id": stored or f"context-synthesized-{index}",
            "turn_id": None if stored is None else preview.turn_ids.get(stored),
            "role": item.role,
        }
    )


def _system_element(part: SystemMessage) -> bytes:
    return spliced(canonical.encode({"source_key": part.key}), "content", [part.form.content])


def _array(elements: Iterable[bytes]) -> bytes:
    return b"[%b]" % b",".join(elements)
