"""A provider's answer on its way into a session: decoded, its ids mapped back, and reported."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from app.core.blocks import Blocks, Text, ToolCall
from app.core.usage_report import NO_NUMBERS
from app.encoders.decoding import Asked, Decoded, InvalidAnswer
from app.encoders.encoding import Format
from app.encoders.formats import DECODERS
from app.importers.usage import usage_from
from app.services.append import Appended, Expected
from app.services.calls import NEUTRAL
from app.services.incoming import IncomingMessage
from app.services.inspect import rebuild_call
from app.services.reported_calls import UsageReport
from app.services.resources import Resources
from app.services.sample_answers import SampleAnswer
from app.services.usage_reports import append_with_usage
from app.services.wordings import Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer:
    """What a provider answered to a prepared call."""

    format: Format
    body: Mapping[str, object]
    prepared_id: str
    message_id: str | None
    """None: one that the prepared call gives."""
    turn_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenAnswer:
    """An answer that is stored."""

    appended: Appended
    sample: SampleAnswer
    decoded: Decoded


async def append_answer(
    resources: Resources, session_id: str, answer: ProviderAnswer, expected: Expected
) -> TakenAnswer:
    """Store an answer as a message and report what its call took; a repeat changes nothing.

    Raises:
        SessionNotFound, PreparedNotFound: There is no such session or call.
        InvalidAnswer: The body is no answer of the provider, or of another one's format.
        ContextError: The message or the report is refused.
    """
    wording = await rebuild_call(resources, session_id, answer.prepared_id)
    asked = _asked(wording, answer.format)
    decoded = await asyncio.to_thread(DECODERS[answer.format], answer.body, asked)
    message = IncomingMessage(
        id=answer.message_id or made_message_id(answer.prepared_id),
        turn_id=answer.turn_id,
        role="assistant",
        kind="normal",
        content=decoded.blocks,
        agent_visible=True,
        user_visible=True,
        created_at=None,
    )
    report = _report(answer, decoded, wording.call.model)
    appended, sample = await append_with_usage(resources, session_id, [message], expected, report)
    return TakenAnswer(appended=appended, sample=sample, decoded=decoded)


def made_message_id(prepared_id: str) -> str:
    """The id of the answer to a prepared call, the same for every repeat of it.

    >>> made_message_id("prep-0123")
    'answer-0123'
    """
    return f"answer-{prepared_id.removeprefix('prep-')}"


def _asked(wording: Wording, answered: Format) -> Asked:
    """What is known of the request; a neutral one was encoded by whoever sent it.

    Raises:
        InvalidAnswer: The request was said in another format.
    """
    if wording.format not in (NEUTRAL, answered):
        raise InvalidAnswer(f"the call was prepared as {wording.format}", key="response.format")
    call_ids = {} if wording.encoded is None else wording.encoded.call_ids
    return Asked(call_ids=call_ids, model=wording.call.model)


def _report(answer: ProviderAnswer, decoded: Decoded, model: str) -> UsageReport:
    has_calls = any(isinstance(block, ToolCall) for block in decoded.blocks)
    numbers = NO_NUMBERS if decoded.usage is None else usage_from(answer.format, decoded.usage)
    return UsageReport(
        turn_id=answer.turn_id,
        model_call=None,
        prepared_id=answer.prepared_id,
        model=decoded.model or model,
        numbers=numbers,
        needs_follow_up=has_calls,
        has_pending_input=False,
        new_context_requested=False,
        reasoning_included=False,
        finish_reason=decoded.finish_reason,
        has_text=_has_text(decoded.blocks),
        has_tool_calls=has_calls,
    )


def _has_text(blocks: Blocks) -> bool:
    return any(isinstance(block, Text) and block.text for block in blocks)
