"""Answers that were cut off: what a report and the stored messages tell of them.

Source: docs/semantics/usage.md#an-answer-that-was-cut-off.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile, takewhile

from app.core.blocks import Block, Text, Thinking
from app.core.content import decode_content
from app.core.finish_reasons import is_output_limit
from app.core.ids import is_message_id
from app.core.items import Item, stored_sequence
from app.core.stored import Session
from app.core.usage import ContinuedStep, UsageState
from app.policies.continuation import Answer, continuation_id
from app.policies.cut_answer import CutAnswer
from app.policies.presets import PresetPolicy
from app.services.reported_calls import ReportedCall, UsageReport
from app.store.connections import ReadConnection
from app.store.messages import MessageRepository
from app.store.usage import LedgerRepository


def cut_answer(
    policy: PresetPolicy,
    state: UsageState,
    report: UsageReport,
    call: ReportedCall,
    items: Sequence[Item],
) -> CutAnswer | None:
    """The cut-off answer of a report; None where it is whole, or the policy continues nothing."""
    budget = policy.max_continuation_retries
    if budget is None or not is_output_limit(report.finish_reason):
        return None
    step = state.continued
    goes_on = step is not None and step.is_of(report.turn_id, report.model_call)
    return CutAnswer(
        answer=_answer_of(report, _said(items, call.through_sequence)),
        retries=step.retries if step is not None and goes_on else 0,
        max_retries=budget,
    )


def with_step(
    state: UsageState, cut: CutAnswer | None, report: UsageReport, message_count: int
) -> UsageState:
    """The state with the step that is continued now; every other answer ends the step before."""
    if cut is None or not cut.is_continued:
        return replace(state, continued=None)
    step = ContinuedStep(
        turn_id=report.turn_id,
        model_call=report.model_call,
        retries=cut.retries + 1,
        message_count=message_count,
    )
    return replace(state, continued=step)


async def continuation_message_id(
    connection: ReadConnection, session: Session, report: UsageReport, retries: int
) -> str | None:
    """The id of the message that asks to go on: the same for equal steps.

    None where turn or call are not known, where no message can have such an id, and where one has
    it already, as in a fork or behind a rewind.
    """
    if report.turn_id is None or report.model_call is None:
        return None
    message_id = continuation_id(report.turn_id, report.model_call, retries)
    if not is_message_id(message_id):
        return None
    messages = MessageRepository(connection, session.incarnation)
    return None if await messages.by_ids([message_id]) else message_id


async def identified(
    ledger: LedgerRepository, session: Session, report: UsageReport, call: ReportedCall
) -> ReportedCall:
    """The call under the identity of its own report.

    All calls of a continued step have one turn and number. Where they name no prepared calls they
    are told apart by what is reported, and by their place where no input is.
    """
    is_step = report.prepared_id is None and None not in (report.turn_id, report.model_call)
    known = await ledger.answered(call.identity) if is_step else None
    if known is None:
        return call
    own = report.identity_in_step(call.through_sequence)
    if await ledger.has(own):
        return replace(call, identity=own)
    step = session.usage.continued
    is_next = (
        step is not None
        and step.is_of(report.turn_id, report.model_call)
        and session.message_count > step.message_count
    )
    is_repeat = known.report == report.body() and report.numbers.input_tokens is not None
    return replace(call, identity=own) if is_next and not is_repeat else call


def _answer_of(report: UsageReport, said: Sequence[Item]) -> Answer | None:
    """What a cut-off answer holds, as reported, else as stored; None where nothing tells."""
    has_calls, has_text = report.has_tool_calls, report.has_text
    if has_calls is None and said:
        has_calls = any(item.facts.calls for item in said)
    blocks = [block for item in said for block in decode_content(item.content)]
    if has_text is None and said:
        has_text = any(isinstance(block, Text) and block.text for block in blocks)
    if has_calls is None or (has_text is None and not has_calls):
        return None
    return Answer(
        was_cut_off=True,
        has_tool_calls=has_calls,
        has_text=bool(has_text),
        has_reasoning=any(map(_is_reasoning, blocks)),
    )


def _is_reasoning(block: Block) -> bool:
    """Whether a block is reasoning, be it hidden in the provider's own state."""
    return isinstance(block, Thinking) and bool(block.thinking or block.provider_state)


def _said(items: Sequence[Item], through: int) -> tuple[Item, ...]:
    """The first stored messages of the model behind a sequence, up to another's."""
    behind = (item for item in items if (stored_sequence(item) or 0) > through)
    answers = dropwhile(lambda item: item.role != "assistant", behind)
    return tuple(takewhile(lambda item: item.role == "assistant", answers))
